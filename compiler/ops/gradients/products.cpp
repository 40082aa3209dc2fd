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

/// The axes become one, the last.
Values prod(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  const std::vector<int64_t> axes = reduced_axes(op);
  const size_t rank = s.shape(0).size();
  if (axes.empty()) return s.done({s.g.value});
  std::vector<int64_t> order, back(rank);
  for (size_t k = 0; k < rank; ++k)
    if (!std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(k)))
      order.push_back(static_cast<int64_t>(k));
  order.insert(order.end(), axes.begin(), axes.end());
  Dims moved, joined, reduced;
  for (size_t k = 0; k < rank; ++k) {
    back[static_cast<size_t>(order[k])] = static_cast<int64_t>(k);
    moved.push_back(s.shape(0)[static_cast<size_t>(order[k])]);
    (k + axes.size() < rank ? joined : reduced).push_back(moved.back());
  }
  Dims one = joined;
  joined.push_back(product(b.context(), reduced)), one.push_back(b.context().index(1));
  Term x{s.build.reshape(s.build.permute(op.operand(0), order), joined), &s.build};
  Term g{s.build.reshape(s.g.value, one), &s.build};
  Term before = x.call("cumprod", {{"axis", int64_t{-1}}, {"exclusive", true}});
  Term after = x.call("cumprod", {{"axis", int64_t{-1}}, {"exclusive", true}, {"reverse", true}});
  return s.done({s.build.permute(s.build.reshape((g * before * after).value, moved), back)});
}

/// Element i is a factor of the results from i on: what precedes it times the sum of g[k] times the factors between
/// i and k. These are cumulative products of the rows of a matrix, so that no factor is divided by; it has n * n
/// elements for a row of n.
Values cumprod(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  const size_t rank = s.shape(0).size(), axis = axis_of(op.attrs.integer("axis"), rank);
  const bool exclusive = op.attrs.flag("exclusive"), reverse = op.attrs.flag("reverse");
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axis], axes.back());
  auto turned = [&](Value* v) {
    if (reverse) v = s.build.call("flip", {v}, {{"axis", std::vector<int64_t>{static_cast<int64_t>(axis)}}});
    return s.build.permute(v, axes);
  };
  Value *x = turned(op.operand(0)), *g = turned(s.g.value);
  if (s.build.failed()) return s.done({});
  const Dims rows = x->shape();
  Expr one = b.context().index(1), n = rows.back();
  Dims row = rows, matrix = rows, column = rows;
  row.insert(row.end() - 1, one), matrix.push_back(n), column.push_back(one);
  auto upper = [&](Value* v, int64_t k) { return s.build.call("trilu", {v, b.shape({b.context().index(k)})}); };
  Value* ones = s.build.call("ones", {b.shape(matrix)}, {{"dtype", x->dtype()}});
  Value* factors =
      s.build.subtract(s.build.add(ones, upper(s.build.broadcast(s.build.reshape(x, row), matrix), 1)), upper(ones, 1));
  const relax::Attrs along{{"axis", int64_t{-1}}, {"exclusive", exclusive}};
  Value* between = upper(s.build.call("cumprod", {factors}, along), exclusive ? 1 : 0);
  Value* sums = s.build.reshape(s.build.call("matmul", {between, s.build.reshape(g, column)}), rows);
  Value* before = s.build.call("cumprod", {x}, {{"axis", int64_t{-1}}, {"exclusive", true}});
  Value* by_x = s.build.permute(s.build.multiply(before, sums), axes);
  if (reverse) by_x = s.build.call("flip", {by_x}, {{"axis", std::vector<int64_t>{static_cast<int64_t>(axis)}}});
  return s.done({by_x});
}

/// By the inverse, -y^T g y^T.
Values inverse(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  Term y{transposed(s.build, s.y.value), &s.build};
  return s.done({(-y.with("matmul", s.g).with("matmul", y)).value});
}

/// The determinant times the transposed inverse: not finite for a singular matrix.
Values det(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  Term inverse{transposed(s.build, s.build.call("inverse", {op.operand(0)})), &s.build};
  Dims shape = op.result()->shape();
  shape.resize(shape.size() + 2, b.context().index(1));
  return s.done({(inverse * Term{s.build.reshape((s.g * s.y).value, shape), &s.build}).value});
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
  Term sum = s.g.call("sum", {{"axis", axis}, {"keepdims", true}});
  return s.done({(s.g - s.y.call("exp") * sum).value});
}

}  // namespace relaxc::ops::derivatives
