// random_test.cpp: whatever simplify, bounds and the provers say must hold at every point that the facts allow.
//
// A failure names its seed. Long runs by hand: `ARITH_RUNS=100 ARITH_SEED=1000000 unit_arith`.
#include <catch2/catch.hpp>

#include "generator.h"

using namespace relaxc;
using namespace relaxc::arith;
using relaxc::test::Generator;
using relaxc::test::Oracle;
using relaxc::test::seeds;
using relaxc::test::Wide;

namespace {

std::string decimal(std::optional<Wide> value) {
  return value ? std::to_string(static_cast<int64_t>(*value)) : "nothing";
}

std::string described(const Generator& source, const std::vector<int64_t>& values) {
  std::string text = "at";
  for (int64_t value : values) text += " " + std::to_string(value);
  for (Expr e : source.facts().assumptions()) text += ", where " + to_string(e);
  return text;
}

/// Runs `check(generator, seed)` for every seed, in a context of its own.
template <typename Check>
void for_seeds(uint32_t first, uint32_t count, Check check) {
  auto [from, many] = seeds(first, count);
  for (uint32_t seed = from; seed < from + many; ++seed) {
    Context context;
    Generator source(context, seed);
    check(source, seed);
  }
}

}  // namespace

TEST_CASE("what simplify makes has the same value at every point") {
  size_t compared = 0;
  for_seeds(0, 3000, [&](Generator& source, uint32_t seed) {
    Expr e = seed % 4 == 3 ? source.condition(3) : source.index(static_cast<int>(seed % 5 + 1));
    Expr simple = simplify(e, source.facts());
    INFO("seed " << seed << ": " << to_string(e) << " became " << to_string(simple));
    Expr again = simplify(simple, source.facts());
    if (!(again == simple)) FAIL("and then " << to_string(again));
    for (Var v : free_vars(simple)) REQUIRE(substitute(e, {{v, v.context().index(0)}}) != e);
    Oracle before(e), after(simple);
    source.points([&](const std::vector<int64_t>& values) {
      auto expected = before.at(source.vars(), values);
      if (!expected) return;
      auto found = after.at(source.vars(), values);
      if (found != expected)
        FAIL("expected " << decimal(expected) << ", found " << decimal(found) << " " << described(source, values));
      ++compared;
    });
  });
  CHECK(compared > 50000);
}

TEST_CASE("bounds and residue class hold every value") {
  for_seeds(100000, 2500, [&](Generator& source, uint32_t seed) {
    Expr e = source.index(static_cast<int>(seed % 4 + 1));
    Range range = bounds(e, source.facts());
    Congruence residue = congruence(e, source.facts());
    int64_t factor = divisor(e, source.facts());
    INFO("seed " << seed << ": " << to_string(e) << " in " << range.lower << " .. " << range.upper);
    Oracle oracle(e);
    source.points([&](const std::vector<int64_t>& values) {
      auto value = oracle.at(source.vars(), values);
      if (!value) return;
      INFO("value " << decimal(value) << " " << described(source, values));
      if (*value < range.lower || *value > range.upper) FAIL("out of range");
      Wide rest = residue.modulus == 0 ? *value - residue.remainder : (*value - residue.remainder) % residue.modulus;
      if (rest != 0) FAIL("not " << residue.remainder << " modulo " << residue.modulus);
      if (factor == 0 ? *value != 0 : *value % factor != 0) FAIL("not a multiple of " << factor);
    });
  });
}

TEST_CASE("what is decided holds everywhere, or nowhere") {
  size_t proved = 0, refuted = 0;
  for_seeds(200000, 6000, [&](Generator& source, uint32_t seed) {
    Expr e = source.condition(static_cast<int>(seed % 3 + 1));
    Truth truth = decide(e, source.facts());
    REQUIRE((truth == Truth::kTrue) == prove(e, source.facts()));
    if (truth == Truth::kUnknown) return;
    ++(truth == Truth::kTrue ? proved : refuted);
    INFO("seed " << seed << ": " << to_string(e) << (truth == Truth::kTrue ? " proved" : " refuted"));
    Oracle oracle(e);
    source.points([&](const std::vector<int64_t>& values) {
      auto value = oracle.at(source.vars(), values);
      if (value && *value != (truth == Truth::kTrue)) FAIL(described(source, values));
    });
  });
  CHECK(proved > 500);
  CHECK(refuted > 500);
}

TEST_CASE("equal, at most and less are proved of what is so") {
  size_t proved = 0;
  for_seeds(300000, 4000, [&](Generator& source, uint32_t seed) {
    int depth = static_cast<int>(seed % 3 + 1);
    Expr a = source.index(depth), b = seed % 2 ? source.index(depth) : max(a, source.index(1)) + source.pick(-1, 3);
    bool equal = prove_equal(a, b, source.facts()), at_most = prove_le(a, b, source.facts()),
         less = prove_lt(a, b, source.facts());
    if (!equal && !at_most && !less) return;
    ++proved;
    INFO("seed " << seed << ": " << to_string(a) << " and " << to_string(b));
    Oracle left(a), right(b);
    source.points([&](const std::vector<int64_t>& values) {
      auto x = left.at(source.vars(), values), y = right.at(source.vars(), values);
      if (!x || !y) return;
      if ((equal && *x != *y) || (at_most && *x > *y) || (less && *x >= *y))
        FAIL(decimal(x) << " and " << decimal(y) << " " << described(source, values));
    });
  });
  CHECK(proved > 500);
}

TEST_CASE("an upper bound is one, and has lost the variables") {
  size_t found = 0;
  for_seeds(400000, 2500, [&](Generator& source, uint32_t seed) {
    Expr e = source.index(static_cast<int>(seed % 3 + 1));
    std::vector<Var> gone = free_vars(e);
    if (gone.size() > 1) gone.erase(gone.begin() + static_cast<std::ptrdiff_t>(seed % 2 + 1), gone.end());
    if (gone.empty()) return;
    auto bound = upper_bound_without(e, gone, source.facts());
    if (!bound) return;
    ++found;
    INFO("seed " << seed << ": " << to_string(e) << " <= " << to_string(*bound));
    for (Var v : free_vars(*bound))
      for (Var lost : gone) REQUIRE(!(v == lost));
    Oracle oracle(e), limit(*bound);
    source.points([&](const std::vector<int64_t>& values) {
      auto value = oracle.at(source.vars(), values), most = limit.at(source.vars(), values);
      if (value && most && *value > *most)
        FAIL("value " << decimal(value) << " limit " << decimal(most) << " " << described(source, values));
    });
  });
  CHECK(found > 500);
}

TEST_CASE("only facts that no value satisfies are called contradictory") {
  size_t contradictory = 0;
  for_seeds(500000, 2000, [&](Generator& source, uint32_t seed) {
    std::string why = contradiction(source.facts());
    if (why.empty()) return;
    ++contradictory;
    INFO("seed " << seed << ": " << why);
    source.points([&](const std::vector<int64_t>& values) { FAIL(described(source, values)); });
  });
  CHECK(contradictory > 20);
}

TEST_CASE("numbers at the ends of int64 keep their values") {
  constexpr int64_t kFar[] = {INT64_MIN, INT64_MIN + 1,    -(int64_t{1} << 62), -(int64_t{1} << 31), -1,       0,
                              1,         int64_t{1} << 32, int64_t{1} << 61,    INT64_MAX - 1,       INT64_MAX};
  size_t compared = 0;
  for_seeds(600000, 1500, [&](Generator& source, uint32_t seed) {
    auto far = [&] { return kFar[source.pick(0, std::size(kFar) - 1)]; };
    Expr e = source.index(static_cast<int>(seed % 3 + 1)), end = e.context().index(far());
    if (seed % 3 == 0) e = floordiv(e + end, source.pick(2, 9));
    if (seed % 3 == 1) e = select(lt(e, end), max(e * 3, end), floormod(e - end, 64));
    Expr simple = simplify(e);
    Range range = bounds(e);
    INFO("seed " << seed << ": " << to_string(e) << " became " << to_string(simple));
    Oracle before(e), after(simple);
    for (int i = 0; i < 20; ++i) {
      std::vector<int64_t> values = {far(), far(), far(), source.pick(-3, 3)};
      auto expected = before.at(source.vars(), values);
      if (!expected || !before.stayed_in_64_bits()) continue;
      ++compared;
      if (*expected < range.lower || *expected > range.upper) FAIL("out of range " << described(source, values));
      auto found = after.at(source.vars(), values);
      if (found && found != expected)  // nothing: a product that leaves the oracle's 128 bits
        FAIL("expected " << decimal(expected) << ", found " << decimal(found) << " " << described(source, values));
    }
  });
  CHECK(compared > 3000);
}
