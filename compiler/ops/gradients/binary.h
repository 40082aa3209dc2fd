// binary.h: the derivatives of element-wise operators of several operands, which broadcast.
//
// Where maximum and minimum have equal operands, each gets half; prelu at 0 has its left derivative. PyTorch documents
// the same.
#pragma once

#include "compiler/ops/common/gradient_builder.h"

namespace relaxc::ops::derivatives {

/// The derivatives by a and b, of the result's shape; null where there is none.
struct Pair {
  Term a, b;
};
using PairRule = Pair (*)(GradientSite&, Term a, Term b);

/// The gradient of an operator of two operands: what its rule gives, summed to their shapes and of their dtypes.
template <PairRule F>
Values pair_gradient(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite site(b, op, by_results);
  Pair pair = F(site, site.in(0), site.in(1));
  std::vector<Value*> made{pair.a.value, pair.b.value};
  for (size_t k = 0; k < made.size(); ++k)
    made[k] = made[k] == nullptr ? nullptr : site.build.sum_to(made[k], site.shape(k));
  return site.done(std::move(made));
}

inline Pair add(GradientSite& s, Term, Term) {
  return {s.g, s.g};
}
inline Pair subtract(GradientSite& s, Term, Term) {
  return {s.g, -s.g};
}
inline Pair multiply(GradientSite& s, Term a, Term b) {
  return {s.g * b, s.g * a};
}
inline Pair divide(GradientSite& s, Term, Term b) {
  Term by_a = s.g / b;
  return {by_a, -(by_a * s.y)};
}
inline Pair mod(GradientSite& s, Term a, Term b) {
  return {s.g, -(s.g * (a / b).call("trunc"))};
}
inline Pair floor_mod(GradientSite& s, Term a, Term b) {
  return {s.g, -(s.g * (a / b).call("floor"))};
}
/// By b it is y * log(a), and 0 where a is 0 and b is not negative. An exponent of an integer dtype has no derivative.
inline Pair power(GradientSite& s, Term a, Term b) {
  Term exponent{s.build.as(b.value, a.value->dtype()), &s.build}, zero = s.g.number(0);
  // Terms are made one by one, here and below, since C++ leaves open which operand of a call is evaluated first.
  Term lower = a.with("power", exponent - 1);
  Term by_a = (s.g * exponent * lower).where(exponent.with("not_equal", zero), zero);
  if (!b.value->dtype().is_float()) return {by_a, {}};
  Term flat = a.with("equal", zero).with("logical_and", exponent.with("greater_equal", zero));
  Term log = a.call("log");
  Term by_b = zero.where(flat, s.g * s.y * log);
  return {by_a, {s.build.as(by_b.value, b.value->dtype()), &s.build}};
}
inline Pair atan2(GradientSite& s, Term a, Term b) {
  Term b_squared = b * b;
  Term scaled = s.g / (a * a + b_squared);
  return {scaled * b, -(scaled * a)};
}
/// Gives g to the operand that was chosen, and half to each where both are equal.
inline Pair chosen(GradientSite& s, Term a, Term b, OpName better) {
  Term shared = (s.g * 0.5).where(a.with("equal", b), s.g), zero = s.g.number(0), first = a.with(better, b);
  Term second = b.with(better, a);
  return {zero.where(second, shared), zero.where(first, shared)};
}
inline Pair maximum(GradientSite& s, Term a, Term b) {
  return chosen(s, a, b, "greater");
}
inline Pair minimum(GradientSite& s, Term a, Term b) {
  return chosen(s, a, b, "less");
}
inline Pair prelu(GradientSite& s, Term a, Term b) {
  Term above = 0 < a, zero = s.g.number(0);
  return {s.g.where(above, s.g * b), zero.where(above, s.g * a)};
}

/// where(condition, x, y)
inline Values where_gradient(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  Term mask = s.in(0), zero = s.g.number(0);
  Value* x = s.build.sum_to(s.g.where(mask, zero).value, s.shape(1));
  return s.done({nullptr, x, s.build.sum_to(zero.where(mask, s.g).value, s.shape(2))});
}

}  // namespace relaxc::ops::derivatives
