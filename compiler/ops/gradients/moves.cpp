// moves.cpp: see moves.h.
//
// What an operator copies from one place to several, its gradient sums; what it leaves out gets 0. Elements that are
// chosen by indices are added in the order of the indices (scatter), so that the same input gives the same bytes.
#include "compiler/ops/gradients/moves.h"

#include <algorithm>
#include <numeric>

#include "compiler/ops/gradients/linear_maps.h"

namespace relaxc::ops::derivatives {
namespace {

const Dims& dims_of(const Op& op, size_t operand) {
  return *op.operand(operand)->info->as<relax::ShapeInfo>()->dims;
}

}  // namespace

Values permute_dims(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  const std::vector<int64_t>& axes = op.attrs.ints("axes");
  std::vector<int64_t> back(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) back[axis_of(axes[i], axes.size())] = static_cast<int64_t>(i);
  return s.done({s.build.permute(s.g.value, std::move(back))});
}

Values flip(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  return s.done({s.g.call("flip", op.attrs).value});
}

Values broadcast(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  return s.done({s.build.sum_to(s.g.value, s.shape(0))});
}

Values tile(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  Dims shape = s.shape(0), repeats = dims_of(op, 1), apart;
  while (shape.size() < repeats.size()) shape.insert(shape.begin(), b.context().index(1));
  while (repeats.size() < shape.size()) repeats.insert(repeats.begin(), b.context().index(1));
  std::vector<int64_t> copies;
  for (size_t k = 0; k < shape.size(); ++k) {
    copies.push_back(static_cast<int64_t>(apart.size()));
    apart.push_back(repeats[k]), apart.push_back(shape[k]);
  }
  if (copies.empty()) return s.done({s.g.value});
  Value* parts = s.build.reshape(s.g.value, std::move(apart));
  return s.done({s.build.reshape(s.build.call("sum", {parts}, {{"axis", copies}}), s.shape(0))});
}

Values repeat(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  Dims apart = s.shape(0);
  const auto axis = static_cast<int64_t>(axis_of(op.attrs.integer("axis"), apart.size()));
  apart.insert(apart.begin() + axis + 1, b.context().index(op.attrs.integer("repeats")));
  Value* parts = s.build.reshape(s.g.value, std::move(apart));
  return s.done({s.build.call("sum", {parts}, {{"axis", std::vector<int64_t>{axis + 1}}})});
}

Values concat(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  const size_t axis = axis_of(op.attrs.integer("axis"), s.shape(0).size());
  std::vector<Value*> parts;
  Expr begin = b.context().index(0);
  for (size_t k = 0; k < op.operands().size(); ++k) {
    Expr extent = s.shape(k)[axis];
    parts.push_back(s.build.part(s.g.value, static_cast<int64_t>(axis), begin, extent));
    begin = begin + extent;
  }
  return s.done(std::move(parts));
}

Value* spread(GradientBuilder& build, Value* g, size_t axis, Expr dim, Expr begin, int64_t step) {
  if (build.failed()) return nullptr;
  Context& context = build.builder().context();
  const Expr zero = context.index(0), count = g->shape()[axis];
  if (step < 0) {
    g = build.call("flip", {g}, {{"axis", std::vector<int64_t>{static_cast<int64_t>(axis)}}});
    begin = begin + (count - 1) * step;
    step = -step;
  }
  auto padded = [&](Value* x, size_t at, Expr before, Expr after) -> Value* {
    if (build.failed()) return nullptr;
    const size_t rank = x->shape().size();
    Dims pads(2 * rank, zero);
    pads[at] = before, pads[at + rank] = after;
    return build.call("pad", {x, build.builder().shape(std::move(pads))});
  };
  if (step > 1) {
    Dims apart = g->shape(), together = apart;
    apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(axis) + 1, context.index(1));
    together[axis] = count * step;
    g = build.reshape(padded(build.reshape(g, apart), axis + 1, zero, context.index(step - 1)), together);
  }
  return padded(g, axis, begin, arith::simplify(dim - begin - count * step));
}

Values slice_part(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  const size_t axis = axis_of(op.attrs.integer("axis"), s.shape(0).size());
  return s.done({spread(s.build, s.g.value, axis, s.shape(0)[axis], dims_of(op, 1)[0], 1)});
}

/// The value gets what falls on the padding.
Values pad(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  Dims pads = dims_of(op, 1);
  if (op.attrs.string("mode") != "constant") return pad_with_copies(b, op, by_results, pads);
  GradientSite s(b, op, by_results);
  for (Expr& pad : pads) pad = arith::simplify(b.context().index(0) - pad);
  Term inside = {s.build.call("pad", {s.g.value, b.shape(std::move(pads))}), &s.build};
  if (op.operand(2) == nullptr) return s.done({inside.value});
  const relax::Attrs all{{"axis", std::vector<int64_t>{}}};
  Term sum_inside = inside.call("sum", all);  // before the other sum, in whatever order operands are evaluated
  Term outside = s.g.call("sum", all) - sum_inside;
  return s.done({inside.value, nullptr, s.build.reshape(outside.value, s.shape(2))});
}

Values trilu(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  std::vector<Value*> operands = op.operands();
  operands[0] = s.g.value;
  return s.done({s.build.call("trilu", std::move(operands), op.attrs)});
}

namespace {

/// Returns the indices of a take as subscripts of a scatter: within the dim, with a last dim of one.
Value* as_tuples(GradientBuilder& build, const Op& op, Expr dim) {
  Value* indices = op.operand(1);
  relax::GraphBuilder& b = build.builder();
  const std::string& mode = op.attrs.string("mode");
  if (mode != "fast") {
    const DType wide = DType::i(64);
    indices = build.as(indices, wide);
    Value* size = build.reshape(build.call("shape_to_tensor", {b.shape({dim})}), {});
    Value* last = build.subtract(size, build.number(wide, 1));
    indices = mode == "wrap" ? build.call("floor_mod", {indices, size})
                             : build.call("maximum", {build.call("minimum", {indices, last}), build.number(wide, 0)});
  }
  if (build.failed()) return nullptr;
  Dims shape = indices->shape();
  shape.push_back(b.context().index(1));
  return build.reshape(indices, std::move(shape));
}

}  // namespace

/// The axis becomes the first one, so that each index adds a whole slice.
Values take(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  const size_t rank = s.shape(0).size(), axis = axis_of(op.attrs.integer("axis"), rank);
  const size_t count = op.operand(1)->shape().size();
  std::vector<int64_t> front, back;  // of g, with the indices' axes first; of x, with its axis at its place
  for (size_t k = 0; k < count; ++k) front.push_back(static_cast<int64_t>(axis + k));
  for (size_t k = 0; k < axis; ++k)
    front.push_back(static_cast<int64_t>(k)), back.push_back(static_cast<int64_t>(k + 1));
  back.push_back(0);
  for (size_t k = axis + 1; k < rank; ++k)
    front.push_back(static_cast<int64_t>(k - 1 + count)), back.push_back(static_cast<int64_t>(k));
  Dims shape = s.shape(0);
  std::rotate(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis),
              shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  Value* updates = axis == 0 || count == front.size() ? s.g.value : s.build.permute(s.g.value, std::move(front));
  Value* sums = s.build.call("scatter_nd",
                             {s.build.zeros(shape, op.result()->dtype()), as_tuples(s.build, op, shape[0]), updates},
                             {{"reduction", std::string("add")}});
  return s.done({axis == 0 ? sums : s.build.permute(sums, std::move(back))});
}

Values gather_elements(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  relax::Attrs attrs = op.attrs;
  attrs.set("reduction", std::string("add"));
  Value* zeros = s.build.zeros(s.shape(0), op.result()->dtype());
  return s.done({s.build.call("scatter_elements", {zeros, op.operand(1), s.g.value}, std::move(attrs))});
}

/// The numbers of the batches become the first subscripts of each tuple.
Values gather_nd(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  Value* indices = op.operand(1);
  const auto batches = static_cast<size_t>(op.attrs.integer("batch_dims"));
  std::vector<Value*> subscripts;
  for (size_t k = 0; k < batches && !s.build.failed(); ++k) {
    Dims shape = indices->shape(), along(shape.size(), b.context().index(1));
    shape.back() = along.back(), along[k] = shape[k];
    Value* numbers = s.build.call("arange", {b.shape({b.context().index(0), shape[k], b.context().index(1)})});
    numbers = s.build.reshape(s.build.as(numbers, indices->dtype()), std::move(along));
    subscripts.push_back(s.build.broadcast(numbers, shape));
  }
  subscripts.push_back(indices);
  if (batches != 0) indices = s.build.call("concat", std::move(subscripts), {{"axis", int64_t{-1}}});
  Value* zeros = s.build.zeros(s.shape(0), op.result()->dtype());
  return s.done({s.build.call("scatter_nd", {zeros, indices, s.g.value}, {{"reduction", std::string("add")}})});
}

Value* sum_to_sources(GradientBuilder& build, Value* g, size_t axis, Value* source, Expr dim) {
  if (build.failed()) return nullptr;
  std::vector<int64_t> axes(g->shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[0], axes[axis]);
  if (axis != 0) g = build.permute(g, axes);
  if (build.failed()) return nullptr;
  Dims shape = g->shape(), tuples{shape[0], build.builder().context().index(1)};
  shape[0] = dim;
  g = build.call("scatter_nd", {build.zeros(shape, g->dtype()), build.reshape(source, std::move(tuples)), g},
                 {{"reduction", std::string("add")}});
  return axis == 0 ? g : build.permute(g, axes);
}

Values reverse_sequence(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  return s.done({s.build.call("reverse_sequence", {s.g.value, op.operand(1)}, op.attrs)});
}

Values diagonal(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  const size_t rank = s.shape(0).size();
  const size_t first = axis_of(op.attrs.integer("axis1"), rank), second = axis_of(op.attrs.integer("axis2"), rank);
  Expr one = b.context().index(1), dim = s.shape(0)[first];
  Dims row = s.shape(0), square(rank, one);
  row[second] = one, square[first] = square[second] = dim;
  Value* unit = s.build.call("eye", {b.shape({dim, dim})}, {{"dtype", op.result()->dtype()}});
  Value* on_diagonal = s.build.reshape(unit, square);
  return s.done({s.build.multiply(s.build.reshape(s.g.value, row), on_diagonal)});
}

}  // namespace relaxc::ops::derivatives
