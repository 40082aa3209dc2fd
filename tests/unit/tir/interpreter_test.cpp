// interpreter_test.cpp: the oracle against values worked out by hand or by C++ itself.
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "compiler/tir/builder.h"
#include "compiler/tir/evaluator.h"

using namespace relaxc;
using namespace relaxc::tir;

namespace {

struct Interpreted {
  arith::Context context;
  Builder b{context};

  RunStatus run(const PrimFunc& f, std::vector<void*> buffers, std::vector<int64_t> scalars = {}) {
    return make_interpreter()->run(f, buffers, scalars);
  }
};

TEST_CASE_METHOD(Interpreted, "a matmul with symbolic sizes gives what nested loops in C++ give") {
  arith::Var n = context.var("n");
  PrimFunc f;
  BufferRef x = b.buffer("x", DType::f(32), {n, b.index(5)}), w = b.buffer("w", DType::f(32), {b.index(5), b.index(3)});
  BufferRef y = b.buffer("y", DType::f(32), {n, b.index(3)});
  f.params = {{x, {}}, {w, {}}, {y, {}}};
  f.body = b.reduce(y, {b.index(5)}, context.zero(DType::f(32)), [&](Expr sum, const Indices& i, const Indices& k) {
    return sum + b.load(x, {i[0], k[0]}) * b.load(w, {k[0], i[1]});
  });
  collect_symbols(f);
  std::vector<float> a(20), c(15), out(12, NAN), expect(12, 0);
  std::iota(a.begin(), a.end(), -3.5f);
  std::iota(c.begin(), c.end(), 0.25f);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 5; ++k) expect[i * 3 + j] += a[i * 5 + k] * c[k * 3 + j];
  REQUIRE(run(f, {a.data(), c.data(), out.data()}, {4}));
  CHECK(out == expect);
}

TEST_CASE_METHOD(Interpreted, "a reduction over nothing gives its initial value") {
  arith::Var n = context.var("n");
  PrimFunc f;
  BufferRef x = b.buffer("x", DType::i(32), {n}), y = b.buffer("y", DType::i(32), {b.index(2)});
  f.params = {{x, {}}, {y, {}}};
  f.body = b.reduce(y, {n}, context.imm(DType::i(32), 7),
                    [&](Expr sum, const Indices&, const Indices& k) { return sum + b.load(x, {k[0]}); });
  collect_symbols(f);
  int32_t out[2] = {0, 0};
  REQUIRE(run(f, {out, out}, {0}));
  CHECK(out[0] == 7);
  CHECK(out[1] == 7);
}

TEST_CASE_METHOD(Interpreted, "values hoisted out of a loop that does not run are still there after it") {
  arith::Var n = context.var("n");
  PrimFunc f;
  BufferRef y = b.buffer("y", DType::i(64), {b.index(4)});
  f.params = {{y, {}}, {nullptr, n}};
  Expr square = cast(DType::i(64), n * n);
  Stmt loop = b.loop("i", n, [&](Var i) { return b.store(y, {i}, square); });
  Stmt branch = b.branch(gt(n, b.index(100)), b.store(y, {b.index(2)}, square + 1));
  f.body = b.seq({loop, branch, b.store(y, {b.index(3)}, square + 1)});
  int64_t out[4] = {-1, -1, -1, -1};
  REQUIRE(run(f, {out}, {0}));
  CHECK(out[0] == -1);
  CHECK(out[2] == -1);
  CHECK(out[3] == 1);
}

TEST_CASE_METHOD(Interpreted, "integers wrap, divide by zero to zero, and casts saturate") {
  PrimFunc f;
  BufferRef x = b.buffer("x", DType::i(8), {b.index(2)}), y = b.buffer("y", DType::i(8), {b.index(6)});
  BufferRef z = b.buffer("z", DType::f(32), {b.index(1)});
  f.params = {{x, {}}, {y, {}}, {z, {}}};
  Expr p = b.load(x, {b.index(0)}), q = b.load(x, {b.index(1)}), r = b.load(z, {b.index(0)});
  f.body =
      b.seq({b.store(y, {b.index(0)}, p + p), b.store(y, {b.index(1)}, p / q), b.store(y, {b.index(2)}, floordiv(p, q)),
             b.store(y, {b.index(3)}, cast(DType::i(8), r)),
             b.store(y, {b.index(4)}, arith::call(arith::Intrinsic::k_shift_right, {p, context.imm(DType::i(8), 20)})),
             b.store(y, {b.index(5)}, floormod(context.imm(DType::i(8), -7), context.imm(DType::i(8), 4)))});
  int8_t in[2] = {-100, 0}, out[6];
  float big = 1e9f;
  REQUIRE(run(f, {in, out, &big}));
  CHECK(out[0] == 56);
  CHECK(out[1] == 0);
  CHECK(out[2] == 0);
  CHECK(out[3] == 127);
  CHECK(out[4] == -1);
  CHECK(out[5] == 1);
}

TEST_CASE_METHOD(Interpreted, "float16 rounds after every operation") {
  PrimFunc f;
  BufferRef x = b.buffer("x", DType::f(16), {b.index(2)}), y = b.buffer("y", DType::f(16), {b.index(1)});
  f.params = {{x, {}}, {y, {}}};
  Expr sum = b.load(x, {b.index(0)}) + b.load(x, {b.index(1)});
  f.body = b.store(y, {b.index(0)}, sum + b.load(x, {b.index(1)}));
  uint16_t in[2] = {0x6800, 0x3c00}, out = 0;  // 2048, 1: 2048 + 1 rounds to 2048 in float16, twice
  REQUIRE(run(f, {in, &out}));
  CHECK(out == 0x6800);
}

TEST_CASE_METHOD(Interpreted, "while, break and guards end where they should") {
  PrimFunc f;
  BufferRef y = b.buffer("y", DType::i(64), {b.index(1)});
  f.params = {{y, {}}};
  auto count = [&] { return b.load(y, {b.index(0)}); };
  Stmt step = b.store(y, {b.index(0)}, count() + 1);
  Stmt stop = b.branch(arith::eq(count(), 5), b.leave_loop());
  Guard guard;
  guard.condition = arith::eq(count(), 4);
  guard.code = 33;
  guard.expected = b.index(4);
  guard.actual = cast(DType::index(), count());
  f.body = b.seq({b.loop_while(lt(count(), context.imm(DType::i(64), 100)), b.seq({step, stop})), b.guard(guard)});
  int64_t out = 0;
  RunStatus status = run(f, {&out});
  CHECK(out == 5);
  CHECK(status.code == 33);
  CHECK(status.expected == 4);
  CHECK(status.actual == 5);
}

TEST_CASE_METHOD(Interpreted, "a view that leaves the memory that it is a part of ends the run") {
  arith::Var n = context.var("n");
  BufferRef y = b.buffer("y", DType::i(64), {b.index(4)}), part = b.buffer("part", DType::i(64), {n});
  PrimFunc f;
  f.params = {{y, {}}, {nullptr, n}};
  f.body = b.view(part, y, b.index(8), b.store(part, {n - 1}, context.imm(DType::i(64), 7)));
  int64_t out[5] = {};
  REQUIRE(run(f, {out}, {3}));
  CHECK(out[3] == 7);
  RunStatus status = run(f, {out}, {4});
  CHECK(status.code == -3);
  CHECK(status.expected == 32);
  CHECK(status.actual == 40);
  CHECK(out[4] == 0);
}

TEST_CASE_METHOD(Interpreted, "checked index arithmetic reports overflow") {
  arith::Var n = context.var("n");
  PrimFunc f;
  BufferRef y = b.buffer("y", DType::i(64), {b.index(1)});
  f.params = {{nullptr, n}, {y, {}}};
  f.checks.overflow_code = 20;
  f.body = b.store(y, {b.index(0)}, cast(DType::i(64), n * n));
  int64_t out = 0;
  REQUIRE(run(f, {&out}, {1 << 20}));
  CHECK(out == int64_t{1} << 40);
  CHECK(run(f, {&out}, {int64_t{1} << 33}).code == 20);
}

TEST_CASE_METHOD(Interpreted, "an operand that a select does not choose may lie outside of its buffer") {
  PrimFunc f;
  BufferRef x = b.buffer("x", DType::i(32), {b.index(4)}), y = b.buffer("y", DType::i(32), {b.index(6)});
  f.params = {{x, {}}, {y, {}}};
  f.body = b.compute(y, [&](const Indices& i) {
    Expr at = i[0] - 1, inside = logical_and(le(b.index(0), at), lt(at, b.index(4)));
    return select(inside, b.load(x, {at}), context.imm(DType::i(32), 9));
  });
  int32_t in[4] = {1, 2, 3, 4}, out[6];
  REQUIRE(run(f, {in, out}));
  CHECK(std::vector<int32_t>(out, out + 6) == std::vector<int32_t>{9, 1, 2, 3, 4, 9});
  f.body = b.compute(y, [&](const Indices& i) { return b.load(x, {i[0] - 1}); });
  CHECK_THROWS_AS(run(f, {in, out}), InternalError);
}

}  // namespace
