// linear_maps.cpp: see linear_maps.h.
//
// Resizing, adaptive pooling and padding with copies are linear maps of each axis for itself. So the operator itself
// knows the map: applied to the unit matrix it gives the matrix of an axis, and applied to the numbers 0, 1, 2, … of an
// axis, if it only copies, the element that each one is a copy of. The derivative is the product with the transposed
// matrix, or the sum over the copies. No formula of positions and weights is written a second time; for constant dims
// the matrix is a constant.
#include "compiler/ops/gradients/linear_maps.h"

#include <algorithm>
#include <numeric>

#include "compiler/ops/gradients/moves.h"

namespace relaxc::ops::derivatives {
namespace {

/// Returns g with `axis`, of as many elements as `matrix` [out, in] has rows, mapped to its columns.
Value* mapped_back(GradientBuilder& build, Value* g, size_t axis, Value* matrix) {
  if (build.failed()) return nullptr;
  std::vector<int64_t> axes(g->shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axis], axes.back());
  const bool last = axis + 1 == axes.size();
  Value* product = build.call("matmul", {last ? g : build.permute(g, axes), matrix});
  return last ? product : build.permute(product, axes);
}

constexpr size_t kScales = 2, kRegion = 3;  ///< operands of a resize

Value* unit_matrix(GradientBuilder& build, Expr dim, DType dtype) {
  return build.failed() ? nullptr : build.call("eye", {build.builder().shape({dim, dim})}, {{"dtype", dtype}});
}

/// Whether it is known that a resize leaves the axis as it is.
bool is_unchanged(const Op& op, size_t axis, Expr from, Expr to) {
  if (op.operand(kScales) != nullptr || op.operand(kRegion) != nullptr) return false;
  const auto &scales = op.attrs.floats("scales"), &roi = op.attrs.floats("roi");
  const bool crops = op.attrs.string("coordinate_mode") == "tf_crop_and_resize";
  const bool whole = !crops || (roi[axis] == 0 && roi[axis + roi.size() / 2] == 1);
  return whole && (scales.empty() || scales[axis] == 1) && arith::prove_equal(from, to);
}

/// Returns, of a list with a number for each axis (and then another one for each), that of `axis` and of an axis that
/// keeps its elements; null if there is no list.
Value* list_of_axis(GradientBuilder& build, Value* list, size_t axis, size_t rank) {
  if (list == nullptr || build.failed()) return nullptr;
  relax::GraphBuilder& b = build.builder();
  auto element = [&](size_t at) {
    return build.part(list, 0, b.context().index(static_cast<int64_t>(at)), b.context().index(1));
  };
  auto number = [&](OpName op) {
    return build.call(op, {b.shape({b.context().index(1)})}, {{"dtype", list->dtype()}});
  };
  std::vector<Value*> parts{element(axis)};
  if (!list->shape()[0].is_constant(static_cast<int64_t>(rank)))
    parts.insert(parts.end(), {number("zeros"), element(axis + rank)});
  parts.push_back(number("ones"));
  return build.call("concat", std::move(parts), {{"axis", int64_t{0}}});
}

/// Returns the attributes for a matrix whose first axis is resized as `axis` of the op.
relax::Attrs attrs_of_axis(const Op& op, size_t axis) {
  relax::Attrs attrs = op.attrs;
  const auto &scales = op.attrs.floats("scales"), &roi = op.attrs.floats("roi");
  if (!scales.empty()) attrs.set("scales", std::vector<double>{scales[axis], 1});
  if (!roi.empty()) attrs.set("roi", std::vector<double>{roi[axis], 0, roi[axis + roi.size() / 2], 1});
  attrs.set("extrapolation_value", 0.0);
  return attrs;
}

}  // namespace

Values resize(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  if (!op.operand(0)->dtype().is_float()) return no_gradient(b, op, by_results);
  GradientSite s(b, op, by_results);
  const Dims &from = s.shape(0), &to = op.result()->shape();
  Value* g = s.g.value;
  for (size_t k = 0; k < from.size() && !s.build.failed(); ++k) {
    if (is_unchanged(op, k, from[k], to[k])) continue;
    Value* unit = unit_matrix(s.build, from[k], op.result()->dtype());
    std::vector<Value*> operands{unit, b.shape({to[k], from[k]})};
    for (size_t list : {kScales, kRegion}) operands.push_back(list_of_axis(s.build, op.operand(list), k, from.size()));
    while (operands.back() == nullptr) operands.pop_back();
    if (s.build.failed()) break;
    RELAXC_TRY(Value * matrix, b.call("resize", std::move(operands), attrs_of_axis(op, k)));
    g = mapped_back(s.build, g, k, matrix);
  }
  return s.done({g});
}

Values adaptive_avg_pool(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  const std::vector<int64_t>& size = op.attrs.ints("output_size");
  const DType dtype = op.result()->dtype();
  Expr one = b.context().index(1);
  Value* g = s.g.value;
  for (size_t k = 0; k < size.size() && !s.build.failed(); ++k) {
    Expr dim = s.shape(0)[k + 2];
    if (size[k] == 1) {  // each element has an equal part, which is repeated below
      Value* count = s.build.reshape(s.build.call("shape_to_tensor", {b.shape({dim})}), {});
      g = s.build.call("divide", {g, s.build.as(count, dtype)});
      continue;
    }
    Value* rows = s.build.reshape(unit_matrix(s.build, dim, dtype), {dim, one, dim});
    Value* means = s.build.call(op.def->name, {rows}, {{"output_size", std::vector<int64_t>{size[k]}}});
    Value* matrix = s.build.reshape(means, {dim, b.context().index(size[k])});
    g = mapped_back(s.build, g, k + 2, s.build.permute(matrix, {1, 0}));
  }
  return s.done({s.build.broadcast(g, s.shape(0))});
}

Values pad_with_copies(relax::GraphBuilder& b, const Op& op, ByResults by_results, const Dims& pads) {
  GradientSite s(b, op, by_results);
  const size_t rank = s.shape(0).size();
  Value* g = s.g.value;
  for (size_t k = 0; k < rank && !s.build.failed(); ++k) {
    if (pads[k].is_constant(0) && pads[k + rank].is_constant(0)) continue;
    Expr zero = b.context().index(0), dim = s.shape(0)[k];
    Value* numbers = s.build.call("arange", {b.shape({zero, dim, b.context().index(1)})});
    Value* source = s.build.call("pad", {numbers, b.shape({pads[k], pads[k + rank]})}, op.attrs);
    g = sum_to_sources(s.build, g, k, source, dim);
  }
  return s.done({g});
}

}  // namespace relaxc::ops::derivatives
