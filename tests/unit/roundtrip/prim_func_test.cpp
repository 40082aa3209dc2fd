// prim_func_test.cpp: what the printer of TIR writes, the parser reads back as the same function.
//
// Printer and parser are far apart in the source; programs of every statement and random expressions of every dtype
// keep them together.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "compiler/tir/builder.h"
#include "compiler/tir/equal.h"
#include "compiler/tir/print.h"
#include "frontends/relax/parser.h"

using namespace relaxc;
using namespace relaxc::tir;
using arith::ExprKind;
using arith::Intrinsic;

namespace {

/// Prints `f`, parses the text and compares; a second print must give the same text.
void check_round_trip(const PrimFunc& f) {
  std::string text = "@I.ir_module\nclass Module:\n" + to_string(f, 4);
  Diagnostics diag;
  auto module = frontend::parse_module("round_trip.relax", text, relax::OpTable({}), diag);
  INFO(text << render(diag));
  REQUIRE(module);
  const PrimFunc* read = module->find_prim_func(f.name);
  REQUIRE(read != nullptr);
  INFO(to_string(*read, 4));
  CHECK(to_string(*read, 4) == to_string(f, 4));
  CHECK(structurally_equal(*read, f));
}

struct Fixture {
  Context context;
  Builder b{context};
  Var n = context.var("n");

  PrimFunc function(std::vector<Param> params, Stmt body) {
    PrimFunc f;
    f.name = "f", f.params = std::move(params), f.body = body;
    collect_symbols(f);
    return f;
  }
};

class Source {
 public:
  Source(Builder& b, uint32_t seed) : b_(b), context_(b.context()), random_(seed) {
    for (DType dtype : kDTypes) inputs.push_back(b.buffer(to_string(dtype), dtype, {b.index(9)}));
  }
  static constexpr DType kDTypes[] = {DType::boolean(), DType::i(8),  DType::i(32),  DType::i(64), DType::u(8),
                                      DType::u(64),     DType::f(16), DType::bf16(), DType::f(32), DType::f(64)};
  std::vector<BufferRef> inputs;

  size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  DType any() { return kDTypes[pick(std::size(kDTypes))]; }

  Expr value(DType dtype, Var i, int depth) {
    if (depth == 0) return leaf(dtype, i);
    auto part = [&] { return value(dtype, i, depth - 1); };
    size_t kind = pick(6);
    if (kind == 0) return context_.select(value(DType::boolean(), i, depth - 1), part(), part());
    if (kind == 1) return context_.cast(dtype, value(any(), i, depth - 1));
    if (dtype.is_bool()) {
      if (kind == 2) return pick(2) != 0 ? logical_and(part(), part()) : logical_or(part(), logical_not(part()));
      DType of = any();
      constexpr ExprKind kKinds[] = {ExprKind::kEq, ExprKind::kNe, ExprKind::kLt, ExprKind::kLe};
      if (of.is_bool()) of = DType::f(32);
      return context_.binary(kKinds[pick(4)], value(of, i, depth - 1), value(of, i, depth - 1));
    }
    if (kind == 2 && dtype.is_float())
      return arith::call(Intrinsic::k_fma, {part(), arith::call(Intrinsic::k_exp, {part()}), part()});
    if (kind == 2 && dtype == DType::f(32))
      return context_.call(dtype, Intrinsic::k_bitcast, {value(DType::i(32), i, depth - 1)});
    if (kind == 2)
      return arith::call(Intrinsic::k_bitwise_xor, {part(), arith::call(Intrinsic::k_bitwise_not, {part()})});
    constexpr ExprKind kBoth[] = {ExprKind::kAdd, ExprKind::kSub,      ExprKind::kMul,
                                  ExprKind::kDiv, ExprKind::kMod,      ExprKind::kMin,
                                  ExprKind::kMax, ExprKind::kFloorDiv, ExprKind::kFloorMod};
    Expr a = part(), c = part();
    ExprKind binary = kBoth[pick(dtype.is_float() ? 7 : 9)];
    bool divides = binary == ExprKind::kDiv || binary == ExprKind::kMod || binary == ExprKind::kFloorDiv ||
                   binary == ExprKind::kFloorMod;
    return context_.binary(divides && c.is_constant(0) ? ExprKind::kAdd : binary, a, c);
  }

 private:
  Expr leaf(DType dtype, Var i) {
    if (pick(3) != 0)
      for (BufferRef in : inputs)
        if (in->dtype == dtype) return b_.load(in, {pick(2) != 0 ? Expr(i) : floormod(i * 5 + 1, 9)});
    static const double kReals[] = {0.0, -0.0, 1, -1.5, 0.1, 1e-7, 3e4, HUGE_VAL, -HUGE_VAL, NAN};
    static const int64_t kWholes[] = {0, 1, -1, 7, 100, INT64_MAX, INT64_MIN, -128};
    if (dtype.is_float()) return context_.imm_float(dtype, kReals[pick(std::size(kReals))]);
    return context_.imm(dtype, kWholes[pick(std::size(kWholes))]);
  }

  Builder& b_;
  Context& context_;
  std::mt19937 random_;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "blocks, reductions and symbols read back") {
  BufferRef x = b.buffer("x", DType::f(32), {n, b.index(4)}), y = b.buffer("y", DType::f(32), {n});
  check_round_trip(function({{x, {}}, {y, {}}}, b.reduce(y, {b.index(4)}, context.zero(DType::f(32)),
                                                         [&](Expr sum, const Indices& i, const Indices& r) {
                                                           return sum + b.load(x, {i[0], r[0]});
                                                         })));
  Block block;
  block.name = "tile";
  Var o = context.var("o"), v = context.var("v");
  block.iters = {{v, b.index(0), n, IterKind::kSpatial, o * 4 + 1}};
  block.predicate = lt(o * 4 + 1, n);
  block.reads = {{x, {{v, b.index(1)}, {b.index(0), b.index(4)}}}};
  block.writes = {{y, {{v, b.index(1)}}}};
  block.annotations["unroll"] = 3;
  block.body = b.store(y, {v}, b.load(x, {v, b.index(2)}));
  Stmt loop = b.loop(o, b.index(1), n, b.block(block), LoopKind::kParallel);
  check_round_trip(function({{x, {}}, {y, {}}}, loop));
}

TEST_CASE_METHOD(Fixture, "every statement reads back") {
  BufferRef base = b.buffer("base", DType::u(8), {b.index(256)}),
            part = b.buffer("part", DType::f(32), {b.index(4), n});
  BufferRef one = b.buffer("one", DType::i(64), {}, Scope::kLocal, 64), y = b.buffer("y", DType::f(32), {n});
  Guard guard;
  guard.condition = le(n, b.index(16));
  guard.code = 7, guard.tensor = 1, guard.axis = 0, guard.symbol = 2, guard.error_node = 3;
  guard.expected = b.index(16), guard.actual = n;
  Invoke inner, outer;
  inner.callee = "f", inner.args = {base, y}, inner.trace_node = 2, inner.error_node = 4;
  outer.callee = "custom", outer.external = true, outer.args = {y, Expr(n * 2)};
  Stmt count = b.store(one, {}, b.load(one, {}) + context.imm(DType::i(64), 1));
  Stmt
      body = b
                 .seq({
                     b.guard(guard),
                     b.invoke(inner),
                     b.invoke(outer),
                     b.loop_while(lt(b.load(one, {}), context.imm(DType::i(64), 9)),
                                  b.seq({count, b.branch(eq(n, 3), b.leave_loop(), count)})),
                     b
                         .loop(
                             "i",
                             b
                                 .index(8),
                             [&](Var i) {
                               return b.store(part, {b.index(0), i}, context.zero(DType::f(32)));
                             },
                             LoopKind::kVectorized),
                     b.loop(
                         "i", b.index(8),
                         [&](Var i) { return b.store(part, {b.index(1), i}, context.zero(DType::f(32))); },
                         LoopKind::kUnrolled),
                     b.let("half", floordiv(n, 2), [&](Var half) { return b.store(y, {half}, b.load(y, {half - 1})); }),
                 });
  check_round_trip(function({{base, {}}, {y, {}}}, b.alloc(one, b.view(part, base, n * 4, body))));
}

TEST_CASE_METHOD(Fixture, "two of one name stay two") {
  Var other = context.var("n"), third = context.var("x");
  BufferRef x = b.buffer("x", DType::f(32), {n, other}), y = b.buffer("for", DType::f(32), {other, n});
  Stmt body = b.loop(third, b.index(0), n, b.loop("x", other, [&](Var i) {
    return b.store(y, {i, third}, b.load(x, {third, i}));
  }));
  check_round_trip(function({{x, {}}, {y, {}}}, body));
}

TEST_CASE("random expressions of every dtype read back") {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    Context context;
    Builder b(context);
    Source source(b, seed);
    PrimFunc f;
    f.name = "f";
    for (BufferRef in : source.inputs) f.params.push_back({in, {}});
    DType dtype = source.any();
    BufferRef out = b.buffer("out", dtype, {b.index(9)});
    f.params.push_back({out, {}});
    f.body = b.loop("i", b.index(9),
                    [&](Var i) { return b.store(out, {i}, source.value(dtype, i, 1 + static_cast<int>(seed % 4))); });
    INFO("seed " << seed);
    check_round_trip(f);
  }
}

TEST_CASE_METHOD(Fixture, "a view at an address and a call of the runtime are read back") {
  BufferRef words = b.buffer("words", DType::i(64), {b.index(2)}), heap = b.buffer("heap", DType::i(64), {b.index(63)});
  BufferRef seen = b.buffer("seen", DType::f(32), {n}, Scope::kGlobal, 64);
  Invoke reserve;
  reserve.callee = "rlx_heap_reserve", reserve.external = reserve.runtime = true;
  reserve.args = {heap, words, b.index(0), n * 4};
  Var at = context.var("at");
  Stmt body = b.view(seen, nullptr, at + 64, b.store(seen, {b.index(0)}, context.zero(DType::f(32))));
  body = b.let(at, arith::cast(DType::index(), b.load(words, {b.index(0)})), body);
  check_round_trip(function({{words, {}}, {heap, {}}, {nullptr, n}}, b.seq({b.invoke(reserve), body})));
}
