// products.cpp: see products.h.
//
// A product y = a b has the derivatives g b^T and a^T g. Vectors get the dim that the product gives them, and batches
// that were broadcast are summed. Where b is one matrix for all batches of a, as in a linear layer, the rows of all
// batches become the rows of one product, so that no derivative per batch is made and summed.
#include "compiler/ops/gradients/products.h"

#include <algorithm>
#include <numeric>

namespace relaxc::ops::derivatives {
namespace {

Value* transposed(GradientBuilder& build, Value* x) {
  if (build.failed()) return nullptr;
  std::vector<int64_t> axes(x->shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes.end()[-1], axes.end()[-2]);
  return build.permute(x, std::move(axes));
}

/// Returns x with all dims but the last as one.
Value* as_rows(GradientBuilder& build, Value* x) {
  Context& context = build.builder().context();
  Dims rows = x->shape(), flat{context.index(1), rows.back()};
  rows.pop_back();
  flat[0] = product(context, rows);
  return build.reshape(x, std::move(flat));
}

Dims with_dim(Dims shape, bool at_end, Expr dim) {
  shape.insert(at_end ? shape.end() : shape.end() - 1, dim);
  return shape;
}

/// Returns the axes that a reduction removes, in ascending order.
std::vector<int64_t> reduced_axes(const Op& op) {
  const size_t rank = op.operand(0)->shape().size();
  std::vector<int64_t> axes;
  for (int64_t axis : op.attrs.ints("axis")) axes.push_back(static_cast<int64_t>(axis_of(axis, rank)));
  if (axes.empty() && op.attrs.flag("none_is_all")) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

}  // namespace

Values matmul(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  Value *left = op.operand(0), *right = op.operand(1);
  const DType dtype = left->dtype();
  if (!dtype.is_float()) return no_gradient(b, op, by_results);
  const bool row = left->shape().size() == 1, column = right->shape().size() == 1;
  Expr one = b.context().index(1);
  Value* g = s.build.as(s.g.value, dtype);
  if (row) left = s.build.reshape(left, with_dim(left->shape(), false, one));
  if (column) right = s.build.reshape(right, with_dim(right->shape(), true, one));
  if (row || column) {
    Dims shape = op.result()->shape();
    if (row && column)
      shape = {one, one};
    else
      shape = row ? with_dim(shape, false, one) : with_dim(shape, true, one);
    g = s.build.reshape(g, std::move(shape));
  }
  if (s.build.failed()) return s.done({});
  Value* by_left = s.build.sum_to(s.build.call("matmul", {g, transposed(s.build, right)}), left->shape());
  Value* by_right = nullptr;
  if (right->shape().size() == 2 && left->shape().size() > 2)
    by_right = s.build.call("matmul", {transposed(s.build, as_rows(s.build, left)), as_rows(s.build, g)});
  else
    by_right = s.build.sum_to(s.build.call("matmul", {transposed(s.build, left), g}), right->shape());
  if (row) by_left = s.build.reshape(by_left, s.shape(0));
  if (column) by_right = s.build.reshape(by_right, s.shape(1));
  return s.done({by_left, by_right});
}

Values sum(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  Value* rows = s.build.with_axes(s.g.value, s.shape(0), reduced_axes(op));
  return s.done({s.build.broadcast(rows, s.shape(0))});
}

Values sum_to(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  return s.done({s.build.broadcast(s.g.value, s.shape(0))});
}

Values extreme(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  const std::vector<int64_t> axes = reduced_axes(op);
  Term g{s.build.with_axes(s.g.value, s.shape(0), axes), &s.build};
  Term y{s.build.with_axes(s.y.value, s.shape(0), axes), &s.build};
  Term found{s.build.as(s.in(0).with("equal", y).value, op.result()->dtype()), &s.build};
  if (axes.empty()) return s.done({(found * g).value});
  Term count = found.call("sum", {{"axis", axes}, {"keepdims", true}});
  return s.done({(found * (g / count)).value});
}

Values prod(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  const std::vector<int64_t> axes = reduced_axes(op);
  const size_t rank = s.shape(0).size();
  if (axes.empty()) return s.done({s.g.value});
  if (axes.size() > 1 && axes.size() != rank) return refuse_gradient(b, op, "over several axes but not all");
  Term x = s.in(0);
  Term g{s.build.with_axes(s.g.value, s.shape(0), axes), &s.build};
  const bool flat = axes.size() > 1;
  if (flat) x.value = s.build.reshape(x.value, {product(b.context(), s.shape(0))});
  if (flat) g.value = s.build.reshape(g.value, {b.context().index(1)});
  const int64_t axis = flat ? 0 : axes[0];
  Term before = x.call("cumprod", {{"axis", axis}, {"exclusive", true}});
  Term after = x.call("cumprod", {{"axis", axis}, {"exclusive", true}, {"reverse", true}});
  Value* by_x = (g * before * after).value;
  return s.done({flat ? s.build.reshape(by_x, s.shape(0)) : by_x});
}

Values cumsum(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  relax::Attrs attrs = op.attrs;
  attrs.set("reverse", !op.attrs.flag("reverse"));
  return s.done({s.g.call("cumsum", std::move(attrs)).value});
}

Values softmax(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  const std::vector<int64_t> axis{op.attrs.integer("axis")};
  Term weighted = s.g * s.y;
  return s.done({(weighted - s.y * weighted.call("sum", {{"axis", axis}, {"keepdims", true}})).value});
}

Values log_softmax(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  const std::vector<int64_t> axis{op.attrs.integer("axis")};
  return s.done({(s.g - s.y.call("exp") * s.g.call("sum", {{"axis", axis}, {"keepdims", true}})).value});
}

}  // namespace relaxc::ops::derivatives
