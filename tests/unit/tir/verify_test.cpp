// verify_test.cpp: each rule of a well-formed prim func, broken once.
#include <catch2/catch.hpp>

#include "compiler/tir/builder.h"
#include "compiler/tir/clone.h"
#include "compiler/tir/equal.h"
#include "compiler/tir/verify.h"

using namespace relaxc;
using namespace relaxc::tir;

namespace {

struct Verifying {
  Context context;
  Builder b{context};
  Var n = context.var("n"), stray = context.var("stray");
  BufferRef x = b.buffer("x", DType::f(32), {n}), y = b.buffer("y", DType::f(32), {n});
  Expr one = context.imm_float(DType::f(32), 1);

  PrimFunc function(Stmt body) {
    PrimFunc f;
    f.name = "f", f.params = {{x, {}}, {y, {}}}, f.body = body;
    collect_symbols(f);
    return f;
  }
  std::string fault(Stmt body) { return first_fault(function(body)); }
  Stmt raw_store(BufferRef buffer, std::vector<Expr> indices, Expr value) {
    Store node;
    node.buffer = buffer, node.indices = std::move(indices), node.value = value;
    return Stmt(context.arena().make<Store>(node));
  }
};

using Catch::Contains;

}  // namespace

TEST_CASE_METHOD(Verifying, "a well-formed function has no fault") {
  CHECK(fault(b.compute(y, [&](const Indices& i) { return b.load(x, i) * one; })).empty());
  CHECK(fault({}).empty());
}

TEST_CASE_METHOD(Verifying, "variables must be bound, and once") {
  CHECK_THAT(fault(b.store(y, {stray}, one)), Contains("variable 'stray' is not bound") && Contains("y[stray]"));
  CHECK_THAT(fault(b.loop("i", n, [&](Var i) { return b.loop(i, b.index(0), n, b.store(y, {i}, one)); })),
             Contains("bound twice"));
  Stmt loop = b.loop("i", n, [&](Var i) { return b.store(y, {i}, one); });
  CHECK(fault(b.seq({loop, loop})).empty());
}

TEST_CASE_METHOD(Verifying, "buffers must exist and get one subscript a dim") {
  BufferRef other = b.buffer("other", DType::f(32), {n});
  CHECK_THAT(fault(b.store(other, {b.index(0)}, one)), Contains("'other' does not exist here"));
  CHECK_THAT(fault(b.store(y, {b.index(0)}, b.load(other, {b.index(0)}))), Contains("'other' does not exist here"));
  CHECK(fault(b.alloc(other, b.store(other, {b.index(0)}, one))).empty());
  CHECK_THAT(fault(b.seq({b.alloc(other, {}), b.store(other, {b.index(0)}, one)})), Contains("does not exist"));
  CHECK_THAT(fault(raw_store(y, {}, one)), Contains("1 dims and gets 0 subscripts"));
  CHECK_THAT(fault(b.store(y, {b.index(0)}, b.load(x, {b.index(0), n}))), Contains("gets 2 subscripts"));
}

TEST_CASE_METHOD(Verifying, "dtypes must agree") {
  CHECK_THAT(fault(raw_store(y, {b.index(0)}, n)), Contains("dtype index, expected float32"));
  Expr wide = cast(DType::f(32), context.load(x, DType::f(64), {b.index(0)}));
  CHECK_THAT(fault(b.store(y, {b.index(0)}, wide)), Contains("holds float32 and is accessed as float64"));
  CHECK_THAT(fault(b.branch(n, b.store(y, {b.index(0)}, one))), Contains("expected bool"));
}

TEST_CASE_METHOD(Verifying, "extents that must be constant are checked") {
  auto body = [&](Var i) { return b.store(y, {i}, one); };
  CHECK_THAT(fault(b.loop("i", n, body, LoopKind::kVectorized)), Contains("constant extent"));
  CHECK_THAT(fault(b.loop("i", n, body, LoopKind::kUnrolled)), Contains("constant extent"));
  CHECK(fault(b.loop("i", n, body, LoopKind::kParallel)).empty());
  CHECK_THAT(fault(b.alloc(b.buffer("t", DType::f(32), {n}, Scope::kLocal), {})), Contains("constant size"));
}

TEST_CASE_METHOD(Verifying, "a break needs a loop that has an order") {
  CHECK_THAT(fault(b.leave_loop()), Contains("outside of any loop"));
  CHECK(fault(b.loop_while(context.boolean(true), b.leave_loop())).empty());
  CHECK_THAT(fault(b.loop(
                 "i", n, [&](Var) { return b.leave_loop(); }, LoopKind::kParallel)),
             Contains("no order"));
}

TEST_CASE_METHOD(Verifying, "a clone is the same program, a change is not") {
  PrimFunc f = function(b.compute(y, [&](const Indices& i) { return b.load(x, i) * one; }));
  CHECK(structurally_equal(f, clone(context, f)));
  PrimFunc g = function(b.compute(y, [&](const Indices& i) { return b.load(x, i) + one; }));
  CHECK_FALSE(structurally_equal(f, g));
  PrimFunc h = function(b.compute(y, [&](const Indices& i) { return b.load(y, i) * one; }));
  CHECK_FALSE(structurally_equal(f, h));
}

TEST_CASE_METHOD(Verifying, "a continue outside of any loop is a fault") {
  CHECK_THAT(fault(b.next_iteration()), Contains("a continue outside of any loop"));
  CHECK(fault(b.loop("i", n, [&](Var) { return b.next_iteration(); })).empty());
}
