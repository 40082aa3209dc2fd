// prover_test.cpp: what budgets and bounds may cost is an answer, never a wrong one.
//
// Proofs that run out of steps say "unknown", which is compared with values at points; a Prover that is asked many
// questions says nothing else than what holds.
#include <catch2/catch.hpp>

#include "compiler/arith/prover.h"
#include "generator.h"

using namespace relaxc;
using namespace relaxc::arith;
using relaxc::test::Generator;
using relaxc::test::Oracle;
using relaxc::test::seeds;

namespace {

/// Sizes as networks compute them, level by level, with choices that proofs have to look at case by case.
Expr sizes(Generator& source, int levels) {
  Expr size = source.index(1);
  for (int level = 0; level < levels; ++level) {
    Expr other = source.index(1);
    switch (source.pick(0, 5)) {
      case 0:
        size = floordiv(size + source.pick(-1, 2), source.pick(2, 4)) + 1;
        break;
      case 1:
        size = max(min(size, other), size - other * source.pick(0, 3));
        break;
      case 2:
        size = size * source.pick(1, 3) + other * source.pick(-2, 2);
        break;
      case 3:
        size = select(lt(size, other), size + other, floormod(size, source.pick(2, 9)));
        break;
      case 4:
        size = min(floordiv(size * other, source.pick(2, 5)), max(other, size));
        break;
      default:
        size = floormod(size + other, source.pick(2, 7)) + floordiv(size, source.pick(2, 3));
    }
  }
  return size;
}

struct Claimed {
  Expr a, b;
  bool at_most, equal;
  Truth less;
};

/// Compares a claim with the values at points where the facts hold; true if some point was compared.
bool holds_at_points(Generator& source, const Claimed& claim) {
  Oracle left(claim.a), right(claim.b);
  bool compared = false;
  source.points([&](const std::vector<int64_t>& values) {
    auto x = left.at(source.vars(), values), y = right.at(source.vars(), values);
    if (!x || !y) return;
    compared = true;
    if (claim.at_most) REQUIRE(*x <= *y);
    if (claim.equal) REQUIRE(*x == *y);
    if (claim.less != Truth::kUnknown) REQUIRE((*x < *y) == (claim.less == Truth::kTrue));
  });
  return compared;
}

Claimed ask(Prover& prover, Expr a, Expr b) {
  return {a, b, prover.proves_le(a, b), prover.proves_equal(a, b), prover.decide(lt(a, b))};
}

}  // namespace

TEST_CASE("a proof that runs out of steps is not known, and never wrong") {
  constexpr int64_t kSteps = 2048;  // of one proof
  size_t exhausted = 0, compared = 0, said = 0;
  auto [from, count] = seeds(700000, 120);
  for (uint32_t seed = from; seed < from + count; ++seed) {
    Context context;
    Generator source(context, seed);
    int levels = static_cast<int>(seed % 12) + 4;
    Expr a = sizes(source, levels), b = seed % 2 ? sizes(source, levels) : a + source.index(1);
    Prover prover(context, source.facts());
    Claimed claim{a, b, prover.proves_le(a, b), false, Truth::kUnknown};
    if (prover.steps() < kSteps) continue;
    INFO("seed " << seed);
    ++exhausted;
    claim.equal = prover.proves_equal(a, b), claim.less = prover.decide(lt(a, b));
    said += claim.at_most || claim.equal || claim.less != Truth::kUnknown;
    compared += holds_at_points(source, claim);
  }
  WARN(exhausted << " proofs that ran out of steps, " << compared << " compared, " << said << " answered");
  CHECK(exhausted > 20);
  CHECK(compared > 15);
}

TEST_CASE("a prover that is asked many questions says what holds, in any order") {
  size_t compared = 0, said = 0;
  auto [from, count] = seeds(720000, 120);
  for (uint32_t seed = from; seed < from + count; ++seed) {
    Context context;
    Generator source(context, seed);
    Prover prover(context, source.facts());
    std::vector<Expr> all;
    for (int i = 0; i < 6; ++i) all.push_back(i % 2 ? source.index(static_cast<int>(seed % 3) + 1) : sizes(source, 3));
    for (int i = 0; i < 20; ++i) {
      auto one = [&] { return all[static_cast<size_t>(source.pick(0, 5))]; };
      Claimed claim = ask(prover, one(), one() + source.pick(-2, 2));
      INFO("seed " << seed << ", question " << i << ": " << to_string(claim.a) << " and " << to_string(claim.b));
      bool says = claim.at_most || claim.equal || claim.less != Truth::kUnknown;
      said += says;
      if (says) compared += holds_at_points(source, claim);
    }
  }
  CHECK(said > 500);
  CHECK(compared > 250);
}

TEST_CASE("a condition on a quotient is one on what is divided, at all values") {
  Context context;
  Var x = context.var("x");
  size_t conditions = 0;
  for (ExprKind kind : {ExprKind::kEq, ExprKind::kNe, ExprKind::kLt, ExprKind::kLe})
    for (int64_t c : {1, 2, 3, 8})
      for (int64_t factor : {-3, -1, 1, 2, 5})
        for (int64_t shift : {-3, 0, 1, 7})
          for (int64_t limit : {-7, -1, 0, 1, 4, 12})
            for (bool turned : {false, true}) {
              Expr quotient = floordiv(x + shift, c) * factor, end = context.index(limit);
              Expr condition = turned ? context.binary(kind, end, quotient) : context.binary(kind, quotient, end);
              Facts known;
              known.assume(condition);
              Expr simple = simplify(condition);
              INFO(to_string(condition) << " became " << to_string(simple));
              Range range = known.range_of(x);
              for (int64_t value = -40; value <= 40; ++value) {
                auto at = [&](Var) { return value; };
                bool holds = evaluate(condition, at) == 1;
                REQUIRE((evaluate(simple, at) == 1) == holds);
                if (holds) REQUIRE((range.lower <= value && value <= range.upper));
              }
              ++conditions;
            }
  CHECK(conditions == 4 * 4 * 5 * 4 * 6 * 2);
}
