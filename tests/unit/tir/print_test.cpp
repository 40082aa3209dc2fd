// print_test.cpp: the text of prim funcs.
#include <catch2/catch.hpp>

#include "compiler/tir/builder.h"
#include "compiler/tir/print.h"

using namespace relaxc;
using namespace relaxc::tir;

TEST_CASE("a matmul prints as programs write it") {
  Context context;
  Builder b(context);
  Var n = context.var("n");
  BufferRef x = b.buffer("X", DType::f(32), {n, b.index(4)}), w = b.buffer("W", DType::f(32), {b.index(4), b.index(3)}),
            y = b.buffer("Y", DType::f(32), {n, b.index(3)});
  PrimFunc f;
  f.name = "matmul";
  f.params = {{x, {}}, {w, {}}, {y, {}}};
  f.body = b.reduce(y, {b.index(4)}, context.zero(DType::f(32)), [&](Expr sum, const Indices& i, const Indices& r) {
    return sum + b.load(x, {i[0], r[0]}) * b.load(w, {r[0], i[1]});
  });
  collect_symbols(f);
  CHECK(to_string(f) == R"(@T.prim_func(private=True, s_tir=True)
def matmul(var_X: T.handle, W: T.Buffer((4, 3), "float32"), var_Y: T.handle):
    n = T.int64()
    X = T.match_buffer(var_X, (n, 4), "float32")
    Y = T.match_buffer(var_Y, (n, 3), "float32")
    for i0, i1, k0 in T.grid(n, 3, 4):
        with T.sblock("Y"):
            vi0, vi1, vk0 = T.axis.remap("SSR", [i0, i1, k0])
            with T.init():
                Y[vi0, vi1] = T.float32(0.0)
            Y[vi0, vi1] = Y[vi0, vi1] + X[vi0, vk0] * W[vk0, vi1]
)");
}

TEST_CASE("statements without a form in TVMScript have one here") {
  Context context;
  Builder b(context);
  BufferRef base = b.buffer("base", DType::u(8), {b.index(64)}), part = b.buffer("base", DType::f(32), {b.index(4)});
  Var k = context.var("k");
  Guard guard;
  guard.condition = arith::le(k, b.index(4));
  guard.code = 7, guard.tensor = 1, guard.actual = k;
  Invoke invoke;
  invoke.callee = "kernel", invoke.args = {part, Expr(k)}, invoke.trace_node = 2;
  Stmt body = b.view(part, base, b.index(16),
                     b.seq({b.guard(guard), b.invoke(invoke), b.loop_while(context.boolean(true), b.leave_loop())}));
  PrimFunc f;
  f.name = "host", f.is_private = false, f.noalias = false;
  f.params = {{base, {}}, {nullptr, k}};
  f.body = b.alloc(b.buffer("t", DType::bf16(), {}, Scope::kLocal, 64), body);
  CHECK(to_string(f) == R"(@T.prim_func
def host(base: T.Buffer((64,), "uint8"), k: T.int64):
    T.func_attr({"tirx.noalias": False})
    t = T.alloc_buffer((), "bfloat16", scope="local", align=64)
    base_1 = T.decl_buffer((4,), "float32", data=base.data, byte_offset=16)
    T.guard(k <= 4, code=7, tensor=1, actual=k)
    T.invoke("kernel", base_1, k, trace=2)
    while T.bool(True):
        break
)");
}
