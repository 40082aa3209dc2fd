// chosen.cpp: see chosen.h.
//
// The derivative by an element that was moved is scattered back to where it came from. A scatter that multiplies is the
// product of the other factors: the product of those that are not 0, for an element beside which there is no 0.
#include "compiler/ops/gradients/chosen.h"

namespace relaxc::ops::derivatives {
namespace {

/// Returns the derivatives by x of elements that were taken from `positions` along the op's axis.
Value* put_back(GradientSite& s, Value* positions) {
  Value* zeros = s.build.zeros(s.shape(0), s.op.operand(0)->dtype());
  return s.build.call("scatter_elements", {zeros, positions, s.g.value}, {{"axis", s.op.attrs.integer("axis")}});
}

/// A scatter: its operands, and what reads the places that it writes.
class Scatter {
 public:
  Scatter(GradientSite& s, OpName gather)
      : s_(s), gather_(gather), adds_(s.op.attrs), x_(s.in(0)), updates_(s.in(2)), zero_(s.g.number(0)) {
    if (!s.op.is("scatter_nd")) axis_.set("axis", s.op.attrs.integer("axis"));
    adds_.set("reduction", std::string("add"));
  }

  Values replaced() {
    Value* zeros = s_.build.zeros(s_.shape(2), s_.op.result()->dtype());
    // Terms are made one by one, here and below, since C++ leaves open which argument of a call is evaluated first.
    Term of_updates = gathered(s_.g);
    return done(scatter(s_.g, {zeros, &s_.build}, s_.op.attrs), of_updates);
  }

  Values added() { return done(s_.g, gathered(s_.g)); }

  /// Elements that are the extreme of their position share its derivative.
  Values extreme() {
    Term own = as_number(x_.with("equal", s_.y)), others = as_number(updates_.with("equal", gathered(s_.y)));
    Term share = s_.g / scatter(own, others, adds_);
    Term of_updates = others * gathered(share);
    return done(own * share, of_updates);
  }

  Values multiplied() {
    Term one = s_.g.number(1), x_is_0 = x_.with("equal", zero_), update_is_0 = updates_.with("equal", zero_);
    Term x = one.where(x_is_0, x_), updates = one.where(update_is_0, updates_);
    Term zero_updates = as_number(update_is_0);
    Term zeros = scatter(as_number(x_is_0), zero_updates, adds_);
    Term by_product = s_.g * scatter(x, updates, s_.op.attrs);
    Term none = by_product.where(zeros.with("equal", zero_), zero_);
    Term single = by_product.where(zeros.with("equal", one), zero_);
    Term alone = gathered(single);
    Term of_updates = alone.where(update_is_0, gathered(none) / updates);
    return done(single.where(x_is_0, none / x), of_updates);
  }

 private:
  Values done(Term by_x, Term by_updates) { return s_.done({by_x.value, nullptr, by_updates.value}); }
  Term as_number(Term mask) { return {s_.build.as(mask.value, s_.op.result()->dtype()), &s_.build}; }
  Term gathered(Term x) { return {s_.build.call(gather_, {x.value, s_.op.operand(1)}, axis_), &s_.build}; }
  Term scatter(Term x, Term updates, relax::Attrs attrs) {
    std::vector<Value*> operands{x.value, s_.op.operand(1), updates.value};
    return {s_.build.call(s_.op.def->name, std::move(operands), std::move(attrs)), &s_.build};
  }

  GradientSite& s_;
  OpName gather_;
  relax::Attrs axis_, adds_;
  Term x_, updates_, zero_;
};

Values through_scatter(relax::GraphBuilder& b, const Op& op, ByResults by_results, OpName gather) {
  GradientSite s(b, op, by_results);
  Scatter scatter(s, gather);
  const std::string& reduction = op.attrs.string("reduction");
  if (reduction == "add") return scatter.added();
  if (reduction == "mul") return scatter.multiplied();
  return reduction == "max" || reduction == "min" ? scatter.extreme() : scatter.replaced();
}

}  // namespace

Values sort(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  return s.done({put_back(s, s.build.call("argsort", {op.operand(0)}, op.attrs))});
}

Values topk(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  return s.done({put_back(s, op.results[1])});
}

Values scatter_elements(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  return through_scatter(b, op, by_results, "gather_elements");
}

Values scatter_nd(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  return through_scatter(b, op, by_results, "gather_nd");
}

}  // namespace relaxc::ops::derivatives
