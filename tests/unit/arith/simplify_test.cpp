// simplify_test.cpp: what must be found, as tables of before and after.
#include <catch2/catch.hpp>

#include "compiler/arith/simplify.h"

using namespace relaxc;
using namespace relaxc::arith;

namespace {

struct Simplified {
  Context context;
  Var n = context.var("n"), m = context.var("m"), i = context.var("i"), j = context.var("j"), k = context.var("k");
  Facts facts;
  Simplified() {
    facts.bound(n, Range::at_least(1));
    facts.bound(m, Range::at_least(0));
    facts.bound(i, {0, 7});
    facts.bound(j, {0, 3});
  }
  std::string simple(Expr e) { return to_string(simplify(e, facts)); }
};

}  // namespace

TEST_CASE_METHOD(Simplified, "sums and products become polynomials") {
  CHECK(simple(n + n) == "n * 2");
  CHECK(simple((n + m) * (n - m)) == "n * n - m * m");
  CHECK(simple(n * 4 - (n * 3 + 1) + 1) == "n");
  CHECK(simple(context.index(3) - n) == "3 - n");
  CHECK(simple(n - n) == "0");
  CHECK(prove_equal((n + 1) * (n + 1), n * n + n * 2 + 1));
}

TEST_CASE_METHOD(Simplified, "terms stand in one order, whichever compiler compiles relaxc") {
  // Each quotient is made while the sum is simplified: (2 k + 3) // 4 becomes (k + 1) // 2. Terms stand in the order in
  // which quotients were made, and the order in which C++ evaluates arguments must not decide that.
  Var a = context.var("a"), b = context.var("b"), c = context.var("c");
  CHECK(simple(floordiv(k * 2 + 3, 4) + floordiv(m * 2 + 3, 4)) == "(m + 1) // 2 + (k + 1) // 2");
  CHECK(simple(floordiv(a * 2 + 3, 4) - floordiv(b * 2 + 3, 4) + floordiv(c * 2 + 3, 4)) ==
        "(c + 1) // 2 - (b + 1) // 2 + (a + 1) // 2");
  Var d = context.var("d"), e = context.var("e");
  CHECK(simple(lt(floordiv(d * 2 + 3, 4) + 1, floordiv(e * 2 + 3, 4) + d)) == "(d + 1) // 2 + 1 < d + (e + 1) // 2");
  Var x = context.var("x"), y = context.var("y");
  CHECK(simple(min(floordiv(x * 2 + 3, 4), floordiv(y * 2 + 3, 4)) - x * y) ==
        "T.min((y + 1) // 2, (x + 1) // 2) - x * y");
}

TEST_CASE_METHOD(Simplified, "divisions find what divides") {
  CHECK(simple(floordiv(k * 12 + 4, 4)) == "k * 3 + 1");
  CHECK(simple(floordiv(i * 4 + j, 4)) == "i");
  CHECK(simple(floormod(i * 4 + j, 4)) == "j");
  CHECK(simple(floordiv(k * 8 + j, 32)) == "k // 4");
  CHECK(simple(floordiv(floordiv(k, 3), 4)) == "k // 12");
  CHECK(simple(floordiv(k, 4) * 4 + floormod(k, 4)) == "k");
  CHECK(simple(floormod(k, 4) + 1) == "k % 4 + 1");
  CHECK(simple(floordiv(n * m * 4, n * 2)) == "m * 2");
  CHECK(simple(floormod(n * m, n)) == "0");
  CHECK(simple(floormod(n * n + n, n + 1)) == "0");
  CHECK(simple(floordiv(i, 8)) == "0");
  CHECK(simple(ceildiv(n * 16 + 1, 16)) == "n + 1");
  Facts known = facts;
  known.multiple(k, 16);
  CHECK(to_string(simplify(floormod(k + 3, 8), known)) == "3");
  CHECK(to_string(simplify(floordiv(k, 16) * 16, known)) == "k");
}

TEST_CASE_METHOD(Simplified, "minima, maxima and selects are decided where they can be") {
  CHECK(simple(min(n, n + 1)) == "n");
  CHECK(simple(max(min(i, context.index(20)), context.index(0))) == "i");
  CHECK(simple(min(min(n, m), n)) == "T.min(n, m)");
  CHECK(simple(select(lt(i, context.index(8)), n, m)) == "n");
  CHECK(simple(le(i * 4, n * 4 + 2)) == "i <= n");
  CHECK(simple(eq(n * 2, m * 2 + 1)) == "T.bool(False)");
  CHECK(simple(logical_not(lt(n, m))) == "m <= n");
}

TEST_CASE_METHOD(Simplified, "assumptions prove what they imply") {
  Facts known = facts;
  known.bound(m, Range::at_least(1));
  known.bound(k, Range::at_least(0));
  known.assume(lt(k, n));
  known.assume(lt(j, m));
  CHECK(prove_lt(k * m + j, n * m, known));
  CHECK(prove_le(k + 1, n, known));
  CHECK_FALSE(prove_lt(k + 1, n, known));
  CHECK(prove_lt(floormod(k, n), n, known));
  Facts same = facts;
  same.assume(eq(n, m));
  CHECK(prove_equal(n * 4, m * 4, same));
  CHECK_FALSE(prove_equal(n * 4, m * 4, facts));
  Facts tiled = facts;
  tiled.assume(lt(k, floordiv(n, 4)));
  CHECK(prove_lt(k * 4 + j, n, tiled));
  CHECK(prove_le(n, ceildiv(n, 4) * 4));
  CHECK(prove_le(min(n, context.index(4)), context.index(4)));
  CHECK(prove_le(floordiv(m, 2), m, facts));
}

TEST_CASE_METHOD(Simplified, "facts come from conditions") {
  Facts known;
  known.assume(logical_and(lt(n, context.index(10)), logical_not(lt(n, context.index(2)))));
  known.assume(eq(floormod(n, 4), context.index(0)));
  CHECK(known.range_of(n) == Range{2, 9});
  CHECK(known.multiple_of(n) == 4);
  CHECK(bounds(n * -2 + 1, known) == Range{-15, -7});
  CHECK(divisor(n * 6, known) == 24);
  CHECK(divisor(context.index(0)) == 0);
}

TEST_CASE_METHOD(Simplified, "upper bounds forget loop variables") {
  Facts known = facts;
  known.bound(k, Range::at_least(0));
  known.assume(lt(k, n));
  auto bound = upper_bound_without(k * 4 + i, {k, i}, known);
  REQUIRE(bound);
  CHECK(to_string(*bound) == "n * 4 + 3");
  CHECK_FALSE(upper_bound_without(m * n, {m}, facts));
}

TEST_CASE("long chains are walked without recursion") {
  Context context;
  Var x = context.var("x"), y = context.var("y");
  Expr e = x;
  for (int i = 0; i < 50000; ++i) e = i % 2 ? floordiv(e + y, 3) : max(e, x * i);
  CHECK(simplify(e));
  Expr doubled = x;
  for (int i = 0; i < 200; ++i) doubled = floordiv(doubled + doubled * y, 7);
  CHECK(simplify(doubled));
  Expr mixed = x;
  for (int i = 0; i < 60; ++i) mixed = floormod(mixed * 7 + floordiv(mixed, 3) + y, 64 + i) + x;
  CHECK(simplify(mixed));
}

TEST_CASE("constants convert as compiled code converts them") {
  Context context;
  int64_t between = (int64_t{1} << 60) + (int64_t{1} << 36) + 1;  // float64 rounds it to a tie of float32
  for (int64_t value : {between, -between, int64_t{16777217}, INT64_MAX, INT64_MIN, int64_t{-129}, int64_t{300}}) {
    Expr e = context.imm(DType::i(64), value);
    CHECK(cast(DType::f(32), e).as<FloatImm>()->value == static_cast<double>(static_cast<float>(value)));
    CHECK(cast(DType::f(64), e).as<FloatImm>()->value == static_cast<double>(value));
    CHECK(*cast(DType::i(8), e).constant() == static_cast<int8_t>(value));
    CHECK(*cast(DType::u(8), e).constant() == static_cast<uint8_t>(value));
    CHECK(*cast(DType::i(16), e).constant() == static_cast<int16_t>(value));
    CHECK(*cast(DType::u(32), e).constant() == static_cast<uint32_t>(value));
    CHECK(*cast(DType::boolean(), e).constant() == (value != 0));
  }
}

TEST_CASE_METHOD(Simplified, "numbers at the ends of int64 are left as they are") {
  Expr low = context.index(INT64_MIN), high = context.index(INT64_MAX);
  for (Expr end : {low, high})
    for (Expr e :
         {k * end, k + end, end - k, floordiv(k * end, 3), floormod(k + end, 7), min(k, end), floordiv(end, k)})
      for (Expr c : {lt(e, n), eq(e, n * end), le(n + end, e), ne(e * 2, end)}) {
        Expr simple = simplify(select(c, e, n), facts);
        auto at = [&](Var v) { return v == n ? int64_t{3} : int64_t{1}; };
        auto expected = evaluate(select(c, e, n), at), found = evaluate(simple, at);
        INFO(to_string(select(c, e, n)) << " became " << to_string(simple));
        if (expected && found) CHECK(*expected == *found);
      }
}
