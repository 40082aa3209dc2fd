// cost_test.cpp: whatever a program writes, the answers come in bounded time, memory and stack.
//
// Expressions are graphs: thirty doublings of a shared node are a tree of a billion leaves. Each case builds one that
// would hurt a naive walk, and asks every question of it. A case that takes more than a second in a release build has
// found something; that it ends at all is what is checked here.
#include <catch2/catch.hpp>

#include "compiler/arith/prover.h"
#include "compiler/arith/simplify.h"
#include "compiler/arith/visit.h"
#include "tests/sanitized.h"

using namespace relaxc;
using namespace relaxc::arith;

namespace {

/// The depth at which a recursive walk would overflow a stack of 8 MB or nearly so; frames are larger under sanitizers.
constexpr int kDeep = testing::sample(10000, 3);

struct Costs {
  Context context;
  std::vector<Var> vars;
  Facts facts;
  Costs() {
    for (int i = 0; i < 64; ++i) {
      vars.push_back(context.var("v" + std::to_string(i)));
      if (i % 3 != 0) facts.bound(vars.back(), {i % 5, 100 + i});
    }
    facts.assume(le(vars[0], vars[1]));
    facts.assume(lt(vars[1], vars[3] * vars[2]));
    facts.assume(eq(vars[6], vars[9] * 4));
  }
  Var v(int i) const { return vars[static_cast<size_t>(i) % vars.size()]; }

  void ask(Expr e) {
    Expr simple = simplify(e, facts);
    CHECK(simplify(simple, facts));
    Range range = bounds(e, facts);
    CHECK(range.lower <= range.upper);
    CHECK(congruence(e, facts).modulus >= 0);
    Truth below = decide(le(e, v(0) + v(1)), facts);
    CHECK((below == Truth::kTrue) == prove_le(e, v(0) + v(1), facts));
    prove_equal(e, simple, facts);
    if (auto bound = upper_bound_without(e, {v(1), v(3)}, facts)) CHECK(bound->dtype().is_index());
    evaluate(e, [](Var) { return 3; });
  }
};

}  // namespace

TEST_CASE_METHOD(Costs, "shared nodes are looked at once") {
  Expr sum = v(0), product = v(1), nest = v(2), chosen = v(3), quotient = v(4);
  for (int i = 0; i < 100; ++i) {
    sum = max(sum + v(i), sum * 2 + v(i + 1));
    product = floormod(product * product + v(i), product + 7);
    nest = min(max(nest, v(i)), nest * v(i + 1));
    chosen = select(lt(chosen, v(i)), chosen + v(i + 1), chosen * 3 - v(i));
    quotient = floordiv(quotient + quotient * v(i), 3) + floormod(quotient, 5);
  }
  for (Expr e : {sum, product, nest, chosen, quotient}) ask(e);
}

TEST_CASE_METHOD(Costs, "sums whose product has millions of terms stay products") {
  Expr e = context.index(1);
  for (int i = 0; i + 4 < 64; ++i) e = e * (v(i) + v(i + 1) * 3 + v(i + 2) - v(i + 3) + i);
  ask(e);
  ask(floordiv(e, 12) * 12 + floormod(e, 12));
  Expr power = v(0) + v(1) + 1;
  for (int i = 0; i < 60; ++i) power = power * power;
  ask(power);
}

TEST_CASE_METHOD(Costs, "a product of sums is as much code as its factors, not as the terms of all") {
  auto nodes_of = [&](int factors) {
    Expr e = context.index(1);
    for (int i = 0; i < factors; ++i) e = e * (context.var("a") + context.var("b"));
    int64_t nodes = 0;
    for_each_node(simplify(e, facts), [&](Expr) { ++nodes; });
    return nodes;
  };
  int64_t ten = nodes_of(10);
  CHECK(ten < 500);
  CHECK(nodes_of(100) < 15 * ten);
}

TEST_CASE_METHOD(Costs, "a simplifier gives what simplify gives, and learns with its facts") {
  Simplifier simplifier(facts);
  Expr e = v(0);
  for (int i = 0; i < 40; ++i) {
    e = floordiv(e, i % 7 + 2) * (i % 5 + 3) + floormod(e + v(i), i % 5 + 3);
    CHECK(simplifier.simplify(e) == simplify(e, facts));
    e = simplifier.simplify(e);
  }
  Var late = context.var("late");
  Expr at_least = max(late, context.index(0));
  CHECK(simplifier.simplify(at_least) == simplify(at_least, facts));
  facts.bound(late, Range::at_least(0));
  CHECK(simplifier.simplify(at_least) == Expr(late));
}

TEST_CASE_METHOD(Costs, "depth costs no stack") {
  Expr minimum = v(0), quotient = v(1), remainder = v(2), truncated = v(4), symbolic = v(5), chosen = v(7),
       casts = v(8);
  Expr conditions = lt(v(0), v(1));
  for (int i = 0; i < kDeep; ++i) {
    if (i % 10 == 0) remainder = floormod(remainder * 5 + v(i), 97 + i % 3);
    minimum = i % 2 != 0 ? min(minimum + v(i), v(i + 1) * 3) : max(minimum - v(i), v(i + 2));
    quotient = floordiv(quotient + v(i), i % 7 + 2);
    truncated = context.binary(i % 2 != 0 ? ExprKind::kDiv : ExprKind::kMod, truncated - v(i), context.index(1000 + i));
    symbolic = floordiv(symbolic * v(i) + i, v(i + 1) + 1);
    chosen = select(lt(chosen, v(i)), chosen + 1, v(i + 1));
    casts = cast(DType::index(), cast(i % 2 != 0 ? DType::i(32) : DType::u(16), casts + v(i)));
    conditions = i % 2 != 0 ? logical_and(conditions, le(v(i), v(i + 1) * i))
                            : logical_or(logical_not(conditions), eq(v(i), v(i + 3)));
  }
  for (Expr e : {minimum, quotient, remainder, truncated, symbolic, chosen, casts}) CHECK(simplify(e, facts));
  CHECK(bounds(chosen, facts).lower <= 0);
  CHECK(decide(le(quotient, v(0)), facts) == Truth::kUnknown);
  CHECK(bounds(conditions, facts).upper <= 1);
  CHECK(simplify(conditions, facts));
  Facts more = facts;
  more.assume(conditions);
  CHECK(simplify(v(0) + v(1), more));
}

TEST_CASE_METHOD(Costs, "a maximum of many sums keeps what it must and no more") {
  // What the arena of a program with many sizes looks like: most are dominated by a few.
  Expr most = context.index(0);
  for (int i = 0; i < 1000; ++i) most = max(most, v(1) * (i % 50) * 64 + v(2) * 128);
  Facts known;
  known.bound(v(1), Range::at_least(0)), known.bound(v(2), Range::at_least(0));
  CHECK(to_string(simplify(most, known)) == "v1 * 3136 + v2 * 128");
  Expr free = context.index(0);
  for (int i = 0; i < 500; ++i) free = max(free, v(i) * (i + 1) - v(i + 1) * i);
  size_t nodes = 0;
  for_each_node(simplify(free, facts), [&](Expr) { ++nodes; });
  CHECK(nodes < 20000);
  ask(free);
}

TEST_CASE_METHOD(Costs, "long sums of symbols stay linear") {
  Expr sum = context.index(0);
  for (int i = 0; i < 1000; ++i) sum = sum + context.var("s") * (i + 1);
  ask(sum);
}

TEST_CASE_METHOD(Costs, "many assumptions do not multiply") {
  Facts many = facts;
  for (int i = 0; i < 60; ++i) many.assume(le(v(i) * v(i + 1), v(i + 2) * v(i + 3) + i));
  Expr e = v(0) * v(1) * v(2) * v(3) - v(4) * v(5) * v(6);
  CHECK_FALSE(prove_le(e, v(7), many));
  CHECK(contradiction(many).empty());
  CHECK(simplify(max(e, v(3) * v(5)) + min(e, v(7)), many));
}
