// extremes_test.cpp: which maxima and minima are one term: those of the same operands, in any order, however often each
// occurs.
#include <catch2/catch.hpp>
#include <limits>

#include "compiler/proof/kernels/algebra.h"

namespace relaxc::proof {
namespace {

using tir::interpreter::Instruction;
using tir::interpreter::Op;

/// Terms of inputs, and operations on them.
class Values {
 public:
  explicit Values(Operands operands, Op op) : algebra_(Meaning::kField, 1, operands), op_(op) {}

  Term input(uint64_t i) const {
    return algebra_.input(0, i, op_ == Op::kMaxI || op_ == Op::kMinI ? DType::i(32) : DType::f(32));
  }
  Term of(const Term& a, const Term& b) { return apply(op_, a, b); }
  Term apply(Op op, const Term& a, const Term& b) { return algebra_.apply({.op = op}, a, b, {}, 64); }
  bool equal(const Term& a, const Term& b) { return algebra_.equal(a, b); }
  Algebra& algebra() { return algebra_; }

 private:
  Algebra algebra_;
  Op op_;
};

constexpr Op kExtremes[] = {Op::kMaxF, Op::kMinF, Op::kMaxD, Op::kMinD, Op::kMaxI, Op::kMinI};

TEST_CASE("an operand of a maximum counts once, and each counts") {
  for (const Op op : kExtremes) {
    INFO("operation " << static_cast<int>(op));
    Values v(Operands::kOnce, op);
    const Term a = v.input(0), b = v.input(1), c = v.input(2);
    const Term both = v.of(a, b), all = v.of(both, c);
    CHECK(v.equal(v.of(a, a), a));
    CHECK(v.equal(v.of(both, a), both));
    CHECK(v.equal(v.of(b, both), both));
    CHECK(v.equal(v.of(both, both), both));
    CHECK(v.equal(v.of(v.of(c, a), v.of(both, a)), all));
    CHECK(v.equal(v.of(v.of(all, a), v.of(all, b)), all));
    CHECK_FALSE(v.equal(v.of(v.of(a, a), v.of(b, b)), all));
    CHECK_FALSE(v.equal(v.of(v.of(both, a), b), v.of(both, c)));
    CHECK_FALSE(v.equal(v.of(both, a), a));
    CHECK_FALSE(v.equal(all, v.of(v.of(all, a), v.input(3))));
  }
}

TEST_CASE("the maximum that is an operand of something else counts each of its own once") {
  for (const Op op : {Op::kMaxF, Op::kMinF}) {
    Values v(Operands::kOnce, op);
    const Term a = v.input(0), b = v.input(1), x = v.input(2);
    const Term twice = v.of(v.of(a, b), v.of(a, x)), once = v.of(v.of(x, b), a);
    CHECK(v.equal(v.apply(Op::kSubF, x, twice), v.apply(Op::kSubF, x, once)));
    CHECK_FALSE(v.equal(v.apply(Op::kSubF, x, twice), v.apply(Op::kSubF, x, v.of(a, b))));
    const Op opposite = op == Op::kMaxF ? Op::kMinF : Op::kMaxF;
    CHECK(v.equal(v.apply(opposite, twice, x), v.apply(opposite, x, once)));
    CHECK_FALSE(v.equal(v.apply(opposite, twice, x), v.apply(op, once, x)));
  }
}

TEST_CASE("constants of a maximum are one, the largest") {
  Values v(Operands::kOnce, Op::kMaxF);
  const Term a = v.input(0), one = v.algebra().constant(1), two = v.algebra().constant(2);
  CHECK(v.equal(v.of(v.of(a, one), v.of(two, a)), v.of(two, a)));
  CHECK_FALSE(v.equal(v.of(v.of(a, one), a), v.of(two, a)));
  CHECK(v.equal(v.of(v.algebra().constant(-std::numeric_limits<double>::infinity()), a), a));
}

TEST_CASE("where occurrences count, equal maxima have equal operands") {
  Values v(Operands::kAll, Op::kMaxF);
  const Term a = v.input(0), b = v.input(1);
  CHECK_FALSE(v.algebra().has_extremes());
  CHECK(v.equal(v.of(a, b), v.of(b, a)));
  CHECK(v.algebra().has_extremes());
  CHECK_FALSE(v.equal(v.of(v.of(a, b), a), v.of(a, b)));  // the other way of counting decides
}

/// Its operands are added up once, not at each of its steps: 2 * 10^10 steps would take a minute.
TEST_CASE("a running maximum of many elements takes linear time, and too many are not compared") {
  Values v(Operands::kOnce, Op::kMaxF);
  constexpr uint64_t kCount = 200'000;
  Term up = v.input(0), down = v.input(kCount - 1);
  for (uint64_t i = 1; i < kCount; ++i) up = v.of(up, v.input(i)), down = v.of(down, v.input(kCount - 1 - i));
  CHECK(v.equal(v.of(up, v.input(7)), down));
  CHECK_FALSE(v.equal(up, v.of(down, v.input(kCount))));
  CHECK_FALSE(v.algebra().over_limit());
}

}  // namespace
}  // namespace relaxc::proof
