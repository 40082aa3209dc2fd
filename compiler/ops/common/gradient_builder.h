// gradient_builder.h: builds the gradients of operators from formulas.
//
// A gradient is a formula over values of the graph, so it is written as one: a Term is a value that knows its builder,
// and `g * (1 - y * y)` adds three operators. The first failure is recorded, as by ExpansionBuilder.
#pragma once

#include "compiler/ops/common/expansion_builder.h"

namespace relaxc::ops {

class GradientBuilder : public ExpansionBuilder {
 public:
  using ExpansionBuilder::ExpansionBuilder;

  /// Sums `g` over the dims along which a tensor of `shape` was broadcast. If only a run knows whether a dim was, the
  /// operator sum_to decides.
  Value* sum_to(Value* g, const Dims& shape);
  Value* zeros(const Dims& shape, DType dtype);
  /// Repeats the dims of 1.
  Value* broadcast(Value* x, const Dims& shape);
  /// Inverts a reduction over `axes`, which are normalized: returns `y`, with dims of 1 for them.
  Value* with_axes(Value* y, const Dims& full, const std::vector<int64_t>& axes);
};

/// A value of a float dtype in a formula. Numbers have the dtype of the other operand.
struct Term {
  Value* value = nullptr;
  GradientBuilder* builder = nullptr;

  Term call(OpName op, relax::Attrs attrs = {}) const {
    return {builder->call(op, {value}, std::move(attrs)), builder};
  }
  Term number(double n) const { return {builder->failed() ? nullptr : builder->number(value->dtype(), n), builder}; }
  Term with(OpName op, Term other) const { return {builder->call(op, {value, other.value}), builder}; }
  /// Returns this where `mask` holds, else `other`.
  Term where(Term mask, Term other) const {
    return {builder->call("where", {mask.value, value, other.value}), builder};
  }
};

inline Term operator+(Term a, Term b) {
  return a.with("add", b);
}
inline Term operator-(Term a, Term b) {
  return a.with("subtract", b);
}
inline Term operator*(Term a, Term b) {
  return a.with("multiply", b);
}
inline Term operator/(Term a, Term b) {
  return a.with("divide", b);
}
inline Term operator+(Term a, double b) {
  return a + a.number(b);
}
inline Term operator-(Term a, double b) {
  return a - a.number(b);
}
inline Term operator*(Term a, double b) {
  return a * a.number(b);
}
inline Term operator-(double a, Term b) {
  return b.number(a) - b;
}
inline Term operator/(double a, Term b) {
  return b.number(a) / b;
}
inline Term operator-(Term a) {
  return a.call("negative");
}
inline Term operator<(Term a, Term b) {
  return a.with("less", b);
}
inline Term operator<(Term a, double b) {
  return a < a.number(b);
}
inline Term operator<(double a, Term b) {
  return b.number(a) < b;
}

/// What the gradient of an operator with one result has: the derivative by the result, the result and the operands.
class GradientSite {
 public:
  GradientSite(relax::GraphBuilder& b, const Op& op, const std::vector<Value*>& by_results)
      : op(op), build(b), g{by_results[0], &build}, y{op.results[0], &build} {}

  const Op& op;
  GradientBuilder build;
  Term g, y;

  Term in(size_t index) { return {op.operand(index), &build}; }
  const Dims& shape(size_t index) const { return op.operand(index)->shape(); }
  /// Returns the derivatives by the operands; those that are missing at the end are null.
  Values done(std::vector<Value*> by_operands) {
    by_operands.resize(op.operands().size());
    return build.done(std::move(by_operands));
  }
};

using ByResults = const std::vector<Value*>&;

/// The derivative by the only tensor operand, of its shape and dtype, as a formula.
using Derivative = Term (*)(GradientSite&);
template <Derivative F>
Values gradient(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite site(b, op, by_results);
  return site.done({F(site).value});
}

/// Fails: "there is no gradient of 'pad' in mode wrap".
relaxc::Failure refuse_gradient(relax::GraphBuilder& b, const Op& op, const std::string& what);

/// The gradient of operators whose results are constant almost everywhere.
Values no_gradient(relax::GraphBuilder& b, const Op& op, ByResults by_results);
/// The gradient of operators whose result is operand 0 in another shape.
Values reshape_gradient(relax::GraphBuilder& b, const Op& op, ByResults by_results);

}  // namespace relaxc::ops
