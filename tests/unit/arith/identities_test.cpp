// identities_test.cpp: the rules that simplify must know, as a table; each is also held to direct evaluation.
//
// A row is true for all values of its variables that meet its condition, which is assumed as a fact. The first case
// asks whether simplify and the provers find it, the second whether it is so, over a window with negative values.
#include <catch2/catch.hpp>

#include "compiler/arith/simplify.h"
#include "oracle.h"

using namespace relaxc;
using namespace relaxc::arith;
using relaxc::test::Oracle;

namespace {

struct Vars {
  Context context;
  Var x = context.var("x"), y = context.var("y"), n = context.var("n"), m = context.var("m");
  Expr number(int64_t value) { return context.index(value); }
};

struct Rule {
  const char* name;
  Expr (*left)(Vars&);
  Expr (*right)(Vars&);
  Expr (*when)(Vars&) = nullptr;
};

#define E(...)                                  \
  [](Vars& v) -> Expr {                         \
    [[maybe_unused]] auto& [c, x, y, n, m] = v; \
    return __VA_ARGS__;                         \
  }
// clang-format off
const Rule kRules[] = {
    // sums and products
    {"terms cancel", E(x * 3 + y - (x + y)), E(x * 2)},
    {"products distribute", E((x + y) * (x - y)), E(x * x - y * y)},
    {"constants fold through", E((x + 3) * 4 - 12), E(x * 4)},
    // floordiv
    {"a multiple divides", E(floordiv(x * 6, 6)), E(x)},
    {"a multiple leaves the quotient", E(floordiv(x * 6 + y, 6)), E(x + floordiv(y, 6))},
    {"a common factor is taken out", E(floordiv(x * 6, 4)), E(floordiv(x * 3, 2))},
    {"a common factor with a small rest", E(floordiv(x * 8 + y, 32)), E(floordiv(x, 4)), E(logical_and(le(c.index(0), y), lt(y, c.index(8))))},
    {"quotients of quotients", E(floordiv(floordiv(x, 3), 5)), E(floordiv(x, 15))},
    {"quotients of shifted quotients", E(floordiv(floordiv(x, 3) + 2, 5)), E(floordiv(x + 6, 15))},
    {"a negative divisor", E(floordiv(x, -4)), E(floordiv(c.index(0) - x, 4))},
    {"a small dividend", E(floordiv(x, 8)), E(c.index(0)), E(logical_and(le(c.index(0), x), lt(x, c.index(8))))},
    {"a small negative dividend", E(floordiv(x, 8)), E(c.index(-1)), E(logical_and(le(c.index(-8), x), lt(x, c.index(0))))},
    {"a symbol divides", E(floordiv(n * m, m)), E(n)},
    {"a symbol leaves the quotient", E(floordiv(n * m + x, m)), E(n + floordiv(x, m))},
    {"a symbol and a small rest", E(floordiv(n * m + x, m)), E(n), E(logical_and(le(c.index(0), x), lt(x, m)))},
    {"a polynomial divides", E(floordiv(n * n + n * 2 + 1, n + 1)), E(n + 1)},
    {"truncation of what is not negative", E(x / c.index(7)), E(floordiv(x, 7)), E(le(c.index(0), x))},
    {"truncation of what is not positive", E(x / c.index(7)), E(c.index(0) - floordiv(c.index(0) - x, 7)), E(logical_and(le(x, c.index(0)), le(c.index(-20), x)))},
    // floormod
    {"quotient and remainder make the whole", E(floordiv(x, 7) * 7 + floormod(x, 7)), E(x)},
    {"quotient and remainder by a symbol", E(floordiv(x, n) * n + floormod(x, n)), E(x)},
    {"a multiple leaves nothing", E(floormod(x * 6, 3)), E(c.index(0))},
    {"a multiple does not matter", E(floormod(x * 6 + y, 6)), E(floormod(y, 6))},
    {"remainders of remainders", E(floormod(floormod(x, 12), 4)), E(floormod(x, 4))},
    {"a remainder that is small already", E(floormod(floormod(x, 4), 12)), E(floormod(x, 4))},
    {"quotients of remainders", E(floordiv(floormod(x, 12), 4)), E(floormod(floordiv(x, 4), 3))},
    {"remainder by a negative number", E(floormod(x * 4, -4)), E(c.index(0))},
    {"a symbol leaves nothing", E(floormod(n * m, n)), E(c.index(0))},
    // divisibility that is known
    {"a known multiple", E(floormod(x, 8)), E(c.index(0)), E(eq(floormod(x, 16), 0))},
    {"a known multiple comes back", E(floordiv(x, 16) * 16), E(x), E(eq(floormod(x, 16), 0))},
    {"a known remainder", E(floormod(x + 2, 8)), E(c.index(5)), E(eq(floormod(x, 16), 3))},
    {"a known remainder comes back", E(floordiv(x, 16) * 32), E(x * 2 - 6), E(eq(floormod(x, 16), 3))},
    {"rounding up a multiple", E(ceildiv(x, 64) * 64), E(x), E(eq(floormod(x, 64), 0))},
    // minima, maxima, selects
    {"a minimum of ordered values", E(min(x, x + 1)), E(x)},
    {"a maximum of ordered values", E(max(x - 2, x)), E(x)},
    {"a minimum with a bound", E(min(x, c.index(9))), E(x), E(le(x, c.index(9)))},
    {"a clamp that is not needed", E(max(min(x, c.index(9)), c.index(0))), E(x), E(logical_and(le(c.index(0), x), lt(x, c.index(9))))},
    {"an ordered pair of symbols", E(max(n, m)), E(m), E(le(n, m))},
    {"nested maxima drop what is dominated", E(max(max(x, y), x + 3)), E(max(y, x + 3))},
    {"repeated maxima", E(max(max(x, y), x)), E(max(x, y))},
    {"a select with a known condition", E(select(lt(x, y), n, m)), E(n), E(lt(x + 1, y))},
    {"a select with equal arms", E(select(lt(x, y), n * 2, n + n)), E(n * 2)},
    {"a select whose case the other arm covers", E(select(eq(n, c.index(1)), min(n, c.index(512)), n)), E(n)},
    {"a select but for a case that its arm covers", E(select(ne(n, c.index(1)), n * m, m)), E(n * m)},
    // casts
    {"through int64 and back", E(cast(DType::index(), cast(DType::i(64), x + 1))), E(x + 1)},
    {"through a dtype that holds it", E(cast(DType::index(), cast(DType::u(8), x))), E(x), E(logical_and(le(c.index(0), x), lt(x, c.index(256))))},
};

struct Claim {
  const char* name;
  Expr (*what)(Vars&);
  Expr (*when)(Vars&) = nullptr;
};
const Claim kClaims[] = {
    {"common terms cancel", E(le(n * m + x, n * m + x + 2))},
    {"rounding up is no less", E(le(x, ceildiv(x, 64) * 64))},
    {"rounding up adds less than the divisor", E(lt(ceildiv(x, 64) * 64, x + 64))},
    {"rounding down is no more", E(le(floordiv(x, n) * n, x)), E(lt(c.index(0), n))},
    {"a remainder is below its divisor", E(lt(floormod(x, n), n)), E(lt(c.index(0), n))},
    {"a product is no less than its factor", E(le(n, n * m)), E(logical_and(le(c.index(0), n), lt(c.index(0), m)))},
    {"a product of ordered factors", E(le(n * x, m * x)), E(logical_and(le(n, m), le(c.index(0), x)))},
    {"a row major subscript", E(lt(x * m + y, n * m)), E(logical_and(logical_and(le(c.index(0), x), lt(x, n)), logical_and(le(c.index(0), y), lt(y, m))))},
    {"a maximum is no less than either", E(le(x + y, max(x, n) + y))},
    {"a maximum of bounded values", E(le(max(x, y) * 2, n * 2)), E(logical_and(le(x, n), le(y, n)))},
    {"what is odd is not even", E(ne(x * 2 + 1, y * 4))},
    {"residues differ", E(ne(x + 1, y)), E(logical_and(eq(floormod(x, 4), 0), eq(floormod(y, 4), 3)))},
    {"equals have equal quotients", E(eq(floordiv(n, 2), m)), E(eq(n, m * 2))},
    {"order is transitive", E(le(x, n)), E(logical_and(le(x, y), le(y, n)))},
    {"tiles stay inside", E(lt(x * 4 + y, n)), E(logical_and(lt(x, floordiv(n, 4)), logical_and(le(c.index(0), y), lt(y, c.index(4)))))},
    {"a sum of maxima", E(le(max(x, y) + max(n, m), max(x, y) + max(m, n + 1)))},
};
// clang-format on
#undef E

Facts facts_of(Vars& vars, Expr (*when)(Vars&)) {
  Facts facts;
  if (when != nullptr) facts.assume(when(vars));
  return facts;
}

/// Calls `check` with values of x, y, n, m in a window for which `when` holds.
template <typename Check>
void for_window(Vars& vars, Expr (*when)(Vars&), Check check) {
  Expr condition = when == nullptr ? vars.context.boolean(true) : when(vars);
  Oracle holds(condition);
  std::vector<Var> names = {vars.x, vars.y, vars.n, vars.m};
  uint32_t random = 1;
  size_t seen = 0;
  for (int i = 0; i < 20000 && seen < 1500; ++i) {
    std::vector<int64_t> at;
    for (int k = 0; k < 4; ++k) {
      random = random * 1664525 + 1013904223;
      at.push_back(static_cast<int64_t>(random >> 16) % 45 - 20);
    }
    if (holds.at(names, at) != std::optional<test::Wide>(1)) continue;
    ++seen;
    check(names, at);
  }
  CHECK(seen > 20);
}

}  // namespace

TEST_CASE("every identity is found") {
  for (const Rule& rule : kRules) {
    Vars vars;
    Facts facts = facts_of(vars, rule.when);
    Expr left = rule.left(vars), right = rule.right(vars), simple = simplify(left, facts);
    INFO(rule.name << ": " << to_string(left) << " became " << to_string(simple));
    CHECK(prove_equal(left, right, facts));
    CHECK(to_string(simple) == to_string(simplify(right, facts)));
  }
  for (const Claim& claim : kClaims) {
    Vars vars;
    Facts facts = facts_of(vars, claim.when);
    INFO(claim.name << ": " << to_string(claim.what(vars)));
    CHECK(decide(claim.what(vars), facts) == Truth::kTrue);
    CHECK(decide(logical_not(claim.what(vars)), facts) == Truth::kFalse);
  }
}

TEST_CASE("every identity is true") {
  for (const Rule& rule : kRules) {
    Vars vars;
    Oracle left(rule.left(vars)), right(rule.right(vars));
    INFO(rule.name);
    for_window(vars, rule.when, [&](const std::vector<Var>& names, const std::vector<int64_t>& at) {
      auto value = left.at(names, at);
      if (value && right.at(names, at) != value) FAIL("differs at " << at[0] << " " << at[1] << " " << at[2]);
    });
  }
  for (const Claim& claim : kClaims) {
    Vars vars;
    Oracle what(claim.what(vars));
    INFO(claim.name);
    for_window(vars, claim.when, [&](const std::vector<Var>& names, const std::vector<int64_t>& at) {
      if (what.at(names, at) == std::optional<test::Wide>(0))
        FAIL("false at " << at[0] << " " << at[1] << " " << at[2]);
    });
  }
}

TEST_CASE("without its condition, an identity is not claimed") {
  for (const Claim& claim : kClaims) {
    if (claim.when == nullptr) continue;
    Vars vars;
    INFO(claim.name);
    CHECK(decide(claim.what(vars)) == Truth::kUnknown);
  }
}
