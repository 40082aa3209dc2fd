// join.cpp: concatenates tensors along an axis, and splits one.
//
// `concat` copies each operand in a loop nest of its own; a select over all operands for every element would be one
// nest, but would read outside of empty operands. `split` expands to slices, so that a consumer may read its part in
// place.
#include "compiler/ops/common/cast_hint.h"
#include "compiler/ops/common/shape.h"
#include "compiler/ops/gradients/moves.h"
#include "compiler/relax/builder.h"

namespace relaxc::ops::join_family {
namespace {

constexpr OperandDef kTensors[] = {{"tensors", OperandDef::kVariadic}};
constexpr OperandDef kSplit[] = {{"x"}, {"sizes", OperandDef::kOptional}};
constexpr AttrDef kAxis[] = {{"axis", AttrType::kInt, false, "0"}};
constexpr AttrDef kConcat[] = {{"axis", AttrType::kInt, false, "0"}, {"in_place", AttrType::kBool, false, "False"}};
constexpr AttrDef kSplitAttrs[] = {
    {"axis", AttrType::kInt, false, "0"}, {"sections", AttrType::kInt, false, "0"}, {"indices", AttrType::kInts}};

/// Requires that operand `k` has the same dim as the first operand on `axis`.
relaxc::Status require_joined(InferContext& c, Expr first, Expr dim, size_t k, size_t axis) {
  return require_equal(c, first, dim, fmt::format("dims of axis {}", axis),
                       {Finding::kWhere, dim_of_operand(c, 0, axis), operand_text(c, k)});
}

InferResult infer_concat(InferContext& c) {
  if (c.operands() == 0) return c.error(Kind::wrong_arity, "'concat' needs at least one tensor");
  RELAXC_TRY(const TensorInfo* first, c.tensor(0));
  RELAXC_TRY(int64_t axis, c.axis(c.op.attrs.integer("axis"), first->ndim));
  Dims shape = *first->shape;
  for (size_t k = 1; k < c.operands(); ++k) {
    RELAXC_TRY(const TensorInfo* x, c.tensor(k));
    if (x->ndim != first->ndim)
      return c.error(Kind::rank_mismatch, "'concat' of tensors of {} and {} dims", first->ndim, x->ndim);
    if (x->dtype != first->dtype)
      return c.error(Kind::dtype_mismatch, "'concat' of {} and {}; {}", to_string(*first->dtype), to_string(*x->dtype),
                     cast_hint(c));
    for (size_t i = 0; i < shape.size(); ++i) {
      if (static_cast<int64_t>(i) == axis)
        shape[i] = shape[i] + (*x->shape)[i];
      else
        RELAXC_DO(require_joined(c, shape[i], (*x->shape)[i], k, i));
    }
  }
  shape[static_cast<size_t>(axis)] = arith::simplify(shape[static_cast<size_t>(axis)], c.facts);
  return one(tensor_info(c.context, std::move(shape), *first->dtype));
}

/// Copies x into y in one block: y[.., offset + i, ..] = x[.., i, ..].
Stmt copy_at(DefineContext& d, BufferRef x, size_t axis, Expr offset) {
  tir::Block block;
  block.name = x->name + "_part";
  Indices at;
  std::vector<Var> loops;
  for (size_t k = 0; k < x->shape.size(); ++k) {
    loops.push_back(d.context().var("i" + std::to_string(k)));
    Var own = d.context().var("v" + std::to_string(k));
    block.iters.push_back({own, d.context().index(0), x->shape[k], tir::IterKind::kSpatial, loops.back()});
    at.push_back(own);
  }
  Indices to = at;
  to[axis] = to[axis] + offset;
  block.body = d.builder.store(d.output(), to, d.builder.load(x, at));
  Stmt s = d.builder.block(std::move(block));
  for (size_t k = loops.size(); k-- > 0;) s = d.builder.loop(loops[k], d.context().index(0), x->shape[k], s);
  return s;
}

Stmt define_concat(DefineContext& d) {
  size_t axis = axis_of(d.attrs().integer("axis"), d.output()->shape.size());
  std::vector<Stmt> parts;
  Expr offset = d.context().index(0);
  for (size_t k = 0; k < d.op.operands().size(); ++k) {
    parts.push_back(copy_at(d, d.input(k), axis, offset));
    offset = offset + d.input(k)->shape[axis];
  }
  return d.builder.seq(std::move(parts));
}

InferResult infer_stack(InferContext& c) {
  if (c.operands() == 0) return c.error(Kind::wrong_arity, "'stack' needs at least one tensor");
  RELAXC_TRY(const TensorInfo* first, c.tensor(0));
  RELAXC_TRY(int64_t axis, c.axis(c.op.attrs.integer("axis"), first->ndim, true));
  for (size_t k = 1; k < c.operands(); ++k) {
    RELAXC_TRY(const TensorInfo* x, c.tensor(k));
    if (x->ndim != first->ndim || x->dtype != first->dtype)
      return c.error(Kind::rank_mismatch, "'stack' of {} and {}", to_string(c.op.operand(0)->info),
                     to_string(c.op.operand(k)->info));
    for (size_t i = 0; i < first->shape->size(); ++i)
      RELAXC_DO(require_joined(c, (*first->shape)[i], (*x->shape)[i], k, i));
  }
  Dims shape = *first->shape;
  shape.insert(shape.begin() + axis, c.context.index(static_cast<int64_t>(c.operands())));
  return one(tensor_info(c.context, std::move(shape), *first->dtype));
}

Result<std::vector<Value*>> expand_stack(relax::GraphBuilder& b, const Op& op) {
  int64_t axis = op.attrs.integer("axis");
  std::vector<Value*> parts;
  for (Value* x : op.operands()) {
    RELAXC_TRY(Value * part, b.call("expand_dims", {x}, {{"axis", std::vector<int64_t>{axis}}}));
    parts.push_back(part);
  }
  RELAXC_TRY(Value * y, b.call("concat", parts, {{"axis", axis}}));
  return std::vector<Value*>{y};
}

/// Returns where each part begins, then where the last one ends. `sections` gives parts of ceil(dim / sections), the
/// last of which may be smaller; `indices` are the beginnings of all parts but the first; `sizes` are the extents.
Dims split_points(const Op& op, Context& context, Expr dim, const Dims* sizes) {
  Dims points{context.index(0)};
  if (sizes != nullptr) {
    for (Expr size : *sizes) points.push_back(points.back() + size);
  } else if (int64_t sections = op.attrs.integer("sections"); sections > 0) {
    Expr chunk = arith::ceildiv(dim, sections);
    bool even = arith::divisor(dim) % sections == 0;
    for (int64_t k = 1; k < sections; ++k) points.push_back(even ? chunk * k : arith::min(chunk * k, dim));
    points.push_back(dim);
  } else {
    for (int64_t index : op.attrs.ints("indices")) {
      Expr at = index < 0 ? arith::max(dim + index, context.index(0)) : context.index(index);
      points.push_back(arith::prove_le(at, dim) ? at : arith::min(at, dim));
    }
    points.push_back(dim);
  }
  return points;
}

Dims points_of(const Op& op, Context& context, Expr dim) {
  const auto* sizes = op.operand(1) == nullptr ? nullptr : op.operand(1)->info->as<relax::ShapeInfo>();
  return split_points(op, context, dim, sizes == nullptr ? nullptr : &*sizes->dims);
}

/// Checks only neighbours of equal sign, since whether -2 comes before 3 depends on the dim.
Status require_ascending(InferContext& c, const std::vector<int64_t>& indices) {
  for (size_t k = 1; k < indices.size(); ++k)
    if ((indices[k] < 0) == (indices[k - 1] < 0) && indices[k] < indices[k - 1])
      return c.error(Kind::invalid_attribute, "'split' at {} and then at {}: indices must not decrease", indices[k - 1],
                     indices[k]);
  return Done{};
}

InferResult infer_split(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(int64_t axis, c.axis(c.op.attrs.integer("axis"), x->ndim));
  Expr dim = (*x->shape)[static_cast<size_t>(axis)];
  if (c.has(1)) RELAXC_DO(c.shape_value(1));
  constexpr int64_t kMostParts = 65536;  // each part is a value of the program
  int64_t sections = c.op.attrs.integer("sections");
  if (sections < 0 || sections > kMostParts)
    return c.error(Kind::invalid_attribute, "'split' into {} sections; 0 to {} are supported", sections, kMostParts);
  if (sections == 0 && !c.has(1)) RELAXC_DO(require_ascending(c, c.op.attrs.ints("indices")));
  Dims points = points_of(c.op, c.context, dim);
  if (c.has(1))
    RELAXC_DO(require_equal(c, arith::simplify(points.back(), c.facts), dim, "the sum of the sizes and the dim"));
  std::vector<Info> parts;
  for (size_t k = 0; k + 1 < points.size(); ++k) {
    Dims shape = *x->shape;
    Expr size = arith::simplify(points[k + 1] - points[k], c.facts);
    RELAXC_DO(c.require(arith::le(c.context.index(0), size), kDerivedDim, c.context.index(0), size,
                        {Finding::kAtLeast, fmt::format("part {}", k)},
                        fmt::format("part {} of 'split' has {} elements", k, to_string(size))));
    shape[static_cast<size_t>(axis)] = size;
    parts.push_back(tensor_info(c.context, std::move(shape), *x->dtype));
  }
  return parts;
}

Result<std::vector<Value*>> expand_split(relax::GraphBuilder& b, const Op& op) {
  Value* x = op.operand(0);
  int64_t axis = static_cast<int64_t>(axis_of(op.attrs.integer("axis"), x->shape().size()));
  Dims points = points_of(op, b.context(), x->shape()[static_cast<size_t>(axis)]);
  if (!arith::prove_equal(points.back(), x->shape()[static_cast<size_t>(axis)])) {
    // Symbolic sizes must add up to the axis, which the slices alone would not check.
    Dims whole = x->shape();
    whole[static_cast<size_t>(axis)] = points.back();
    RELAXC_TRY(x, b.match_cast(x, tensor_info(b.context(), std::move(whole), x->dtype()), {}));
  }
  std::vector<Value*> parts;
  for (size_t k = 0; k + 1 < points.size(); ++k) {
    Expr size = op.results[k]->shape()[static_cast<size_t>(axis)];
    RELAXC_TRY(Value * part, b.call("slice_part", {x, b.shape({points[k]}), b.shape({size})}, {{"axis", axis}}));
    parts.push_back(part);
  }
  return parts;
}

constexpr OpDef kOps[] = {
    {.name = "concat",
     .operands = kTensors,
     .attrs = kConcat,
     .infer = infer_concat,
     .define = define_concat,
     .gradient = derivatives::concat,
     .doc = "the tensors one after another along axis; in_place: made there however early, where they are contiguous"},
    {.name = "stack",
     .operands = kTensors,
     .attrs = kAxis,
     .infer = infer_stack,
     .expand = expand_stack,
     .doc = "tensors of one shape along a new axis"},
    {.name = "split",
     .operands = kSplit,
     .attrs = kSplitAttrs,
     .infer = infer_split,
     .expand = expand_split,
     .doc = "parts of x along axis: `sections` equal ones, or cut at `indices`, or of the extents `sizes`; as many "
            "results as parts"},
};

}  // namespace
}  // namespace relaxc::ops::join_family

RELAXC_OPERATORS(join, kOps)
