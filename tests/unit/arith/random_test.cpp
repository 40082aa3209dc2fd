// random_test.cpp: whatever simplify, bounds and the provers say must hold at every point that the facts allow.
#include <catch2/catch.hpp>
#include <random>

#include "compiler/arith/simplify.h"

using namespace relaxc;
using namespace relaxc::arith;

namespace {

class Source {
 public:
  Source(Context& context, uint32_t seed) : context_(context), random_(seed) {
    for (const char* name : {"a", "b", "c", "d"}) {
      Var v = context.var(name);
      int64_t lower = pick(-12, 12), upper = lower + pick(0, 30), factor = pick(0, 3) == 0 ? pick(2, 6) : 1;
      if (pick(0, 2) != 0) {
        facts_.bound(v, {lower, upper});
        lower_.push_back(lower), upper_.push_back(upper);
      } else {
        lower_.push_back(-40), upper_.push_back(40);
      }
      facts_.multiple(v, factor);
      factors_.push_back(factor);
      vars_.push_back(v);
    }
    if (pick(0, 1) != 0) assumption_ = pick(0, 1) != 0 ? lt(index(2), index(2)) : le(index(1), index(2));
    if (assumption_) facts_.assume(assumption_);
  }

  int64_t pick(int64_t from, int64_t to) { return std::uniform_int_distribution<int64_t>(from, to)(random_); }

  Expr index(int depth) {
    if (depth == 0 || pick(0, 9) == 0)
      return pick(0, 3) == 0 ? context_.index(pick(-9, 9)) : Expr(vars_[static_cast<size_t>(pick(0, 3))]);
    Expr a = index(depth - 1);
    switch (pick(0, 12)) {
      case 0:
      case 1:
      case 2:
        return a + index(depth - 1);
      case 3:
        return a - index(depth - 1);
      case 4:
        return a * index(depth - 1);
      case 5:
        return a * pick(-4, 8);
      case 6:
        return floordiv(a, pick(0, 5) == 0 ? -3 : pick(1, 8));
      case 7:
        return floormod(a, pick(0, 5) == 0 ? -4 : pick(1, 8));
      case 8:
        return pick(0, 1) != 0 ? min(a, index(depth - 1)) : max(a, index(depth - 1));
      case 9:
        return select(condition(depth - 1), a, index(depth - 1));
      case 10:
        return pick(0, 1) != 0 ? floordiv(a, index(depth - 1)) : floormod(a, index(depth - 1));
      case 11:
        return context_.binary(pick(0, 1) != 0 ? ExprKind::kDiv : ExprKind::kMod, a, context_.index(pick(1, 6)));
      default:
        return cast(DType::index(), cast(pick(0, 1) != 0 ? DType::i(64) : DType::i(8), a));
    }
  }

  Expr condition(int depth) {
    constexpr ExprKind kKinds[] = {ExprKind::kEq, ExprKind::kNe, ExprKind::kLt, ExprKind::kLe};
    int64_t kind = pick(0, 6);
    if (depth > 0 && kind == 4) return logical_and(condition(depth - 1), condition(depth - 1));
    if (depth > 0 && kind == 5) return logical_or(condition(depth - 1), condition(depth - 1));
    if (depth > 0 && kind == 6) return logical_not(condition(depth - 1));
    return context_.binary(kKinds[kind % 4], index(depth > 0 ? depth - 1 : 0), index(depth > 0 ? depth - 1 : 0));
  }

  /// Calls `check` with points that satisfy the facts.
  void points(const std::function<void(const std::function<int64_t(Var)>&)>& check) {
    for (int i = 0; i < 60; ++i) {
      std::vector<int64_t> values;
      bool possible = true;
      for (size_t k = 0; k < 4; ++k) {
        int64_t value = pick(lower_[k], upper_[k]);
        values.push_back(value);
        possible = possible && value % factors_[k] == 0;
      }
      auto value_of = [&](Var v) {
        for (size_t k = 0; k < 4; ++k)
          if (vars_[k] == v) return values[k];
        FAIL("a variable from nowhere");
        return int64_t{0};
      };
      if (possible && assumption_) possible = evaluate(assumption_, value_of) == 1;
      if (possible) check(value_of);
    }
  }
  const Facts& facts() const { return facts_; }

 private:
  Context& context_;
  std::mt19937 random_;
  Facts facts_;
  std::vector<Var> vars_;
  std::vector<int64_t> lower_, upper_, factors_;
  Expr assumption_;
};

}  // namespace

TEST_CASE("what simplify makes has the same value at every point") {
  size_t compared = 0;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    Context context;
    Source source(context, seed);
    Expr e = seed % 4 == 3 ? source.condition(3) : source.index(seed % 5 + 1);
    Expr simple = simplify(e, source.facts());
    INFO("seed " << seed << ": " << to_string(e) << " became " << to_string(simple));
    REQUIRE(simplify(simple, source.facts()) == simple);
    source.points([&](const auto& at) {
      auto expected = evaluate(e, at);
      if (!expected) return;
      auto found = evaluate(simple, at);
      if (!found || *found != *expected) FAIL("expected " << *expected << ", found " << found.value_or(-999999));
      ++compared;
    });
  }
  CHECK(compared > 50000);
}

TEST_CASE("bounds hold every value, and the divisor divides it") {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    Context context;
    Source source(context, seed + 100000);
    Expr e = source.index(seed % 4 + 1);
    Range range = bounds(e, source.facts());
    int64_t factor = divisor(e, source.facts());
    INFO("seed " << seed << ": " << to_string(e) << " in " << range.lower << " .. " << range.upper);
    source.points([&](const auto& at) {
      auto value = evaluate(e, at);
      if (!value) return;
      if (*value < range.lower || *value > range.upper) FAIL("value " << *value);
      if (factor == 0 ? *value != 0 : *value % factor != 0) FAIL("value " << *value << " divisor " << factor);
    });
  }
}

TEST_CASE("what is proved is true") {
  size_t proved = 0;
  for (uint32_t seed = 0; seed < 6000; ++seed) {
    Context context;
    Source source(context, seed + 200000);
    Expr e = source.condition(2);
    if (!prove(e, source.facts())) continue;
    ++proved;
    INFO("seed " << seed << ": " << to_string(e));
    source.points([&](const auto& at) {
      auto value = evaluate(e, at);
      if (value && *value == 0) FAIL("does not hold");
    });
  }
  CHECK(proved > 300);
}

TEST_CASE("an upper bound is one, and has lost the variables") {
  size_t found = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    Context context;
    Source source(context, seed + 300000);
    Expr e = source.index(seed % 3 + 1);
    std::vector<Var> vars = free_vars(e);
    if (vars.empty()) continue;
    std::vector<Var> gone = {vars[0]};
    auto bound = upper_bound_without(e, gone, source.facts());
    if (!bound) continue;
    ++found;
    INFO("seed " << seed << ": " << to_string(e) << " <= " << to_string(*bound));
    for (Var v : free_vars(*bound)) REQUIRE(!(v == gone[0]));
    source.points([&](const auto& at) {
      auto value = evaluate(e, at), limit = evaluate(*bound, at);
      if (value && limit && *value > *limit) FAIL("value " << *value << " limit " << *limit);
    });
  }
  CHECK(found > 500);
}
