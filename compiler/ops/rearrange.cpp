// rearrange.cpp: operators that copy each element from another position: transposes, flips, broadcasts, repeats, and
// moves between space and depth.
#include "compiler/ops/common/shape.h"
#include "compiler/ops/gradients/moves.h"

namespace relaxc::ops::rearrange_family {
namespace {

constexpr OperandDef kXShape[] = {{"x"}, {"shape"}};
constexpr OperandDef kXRepeats[] = {{"x"}, {"repeats"}};
constexpr AttrDef kAxes[] = {{"axes", AttrType::kInts}};
constexpr AttrDef kFlip[] = {{"axis", AttrType::kInts, true}};
constexpr AttrDef kMutual[] = {{"mutual", AttrType::kBool, false, "False"}};
constexpr AttrDef kRepeat[] = {{"repeats", AttrType::kInt, true}, {"axis", AttrType::kInt, true}};

/// Returns the axes as a permutation; an empty list reverses all axes.
std::vector<size_t> permutation(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<size_t> out;
  for (size_t i = 0; i < rank; ++i) out.push_back(axes.empty() ? rank - 1 - i : axis_of(axes[i], rank));
  return out;
}

InferResult infer_permute(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  const auto& axes = c.op.attrs.ints("axes");
  if (!axes.empty()) {
    RELAXC_TRY(std::vector<int64_t> checked, all_or_axes(c, axes, x->ndim));
    if (checked.size() != x->shape->size())
      return c.error(Kind::invalid_attribute, "'permute_dims' of {} dims names {} axes", x->ndim, checked.size());
  }
  Dims shape;
  for (size_t axis : permutation(axes, x->shape->size())) shape.push_back((*x->shape)[axis]);
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

Stmt define_permute(DefineContext& d) {
  BufferRef x = d.input(0);
  std::vector<size_t> axes = permutation(d.attrs().ints("axes"), x->shape.size());
  return d.builder.compute(d.output(), [&](const Indices& i) {
    Indices from(i.size());
    for (size_t k = 0; k < i.size(); ++k) from[axes[k]] = i[k];
    return d.builder.load(x, from);
  });
}

InferResult infer_flip(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_DO(all_or_axes(c, c.op.attrs.ints("axis"), x->ndim));
  return one(tensor_info(c.context, *x->shape, *x->dtype));
}

Stmt define_flip(DefineContext& d) {
  BufferRef x = d.input(0);
  std::vector<int64_t> axes;
  for (int64_t axis : d.attrs().ints("axis")) axes.push_back(static_cast<int64_t>(axis_of(axis, x->shape.size())));
  return d.builder.compute(d.output(), [&](const Indices& i) {
    Indices from = i;
    for (size_t k = 0; k < i.size(); ++k)
      if (contains(axes, k)) from[k] = x->shape[k] - 1 - i[k];
    return d.builder.load(x, from);
  });
}

InferResult infer_broadcast_to(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(Dims target, c.shape_value(1));
  if (c.op.attrs.flag("mutual")) {
    RELAXC_TRY(Dims shape, broadcast_dims(c, *x->shape, target));
    return one(tensor_info(c.context, std::move(shape), *x->dtype));
  }
  RELAXC_DO(require_broadcast_to(c, *x->shape, target));
  return one(tensor_info(c.context, std::move(target), *x->dtype));
}

Stmt define_broadcast_to(DefineContext& d) {
  BufferRef y = d.output();
  return d.builder.compute(y, [&](const Indices& i) { return load_broadcast(d, d.input(0), i, y->shape); });
}

/// Leading ones are added to the shorter one of shape and repeats, as NumPy does.
InferResult infer_tile(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(Dims repeats, c.shape_value(1));
  Dims shape = *x->shape;
  while (shape.size() < repeats.size()) shape.insert(shape.begin(), c.context.index(1));
  size_t extra = shape.size() - repeats.size();
  for (size_t i = 0; i < repeats.size(); ++i) {
    RELAXC_DO(c.require(arith::le(c.context.index(0), repeats[i]), kDerivedDim, c.context.index(0), repeats[i],
                        {Finding::kAtLeast, fmt::format("the number of repeats of axis {}", i)},
                        fmt::format("'tile' repeats axis {} {} times", i, to_string(repeats[i]))));
    shape[i + extra] = shape[i + extra] * repeats[i];
  }
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

Stmt define_tile(DefineContext& d) {
  BufferRef x = d.input(0), y = d.output();
  size_t extra = y->shape.size() - x->shape.size();
  return d.builder.compute(y, [&](const Indices& i) {
    Indices from;
    for (size_t k = 0; k < x->shape.size(); ++k) {
      bool once = x->shape[k] == y->shape[k + extra];
      from.push_back(once ? i[k + extra] : arith::floormod(i[k + extra], x->shape[k]));
    }
    return d.builder.load(x, from);
  });
}

InferResult infer_repeat(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(int64_t axis, c.axis(c.op.attrs.integer("axis"), x->ndim));
  int64_t repeats = c.op.attrs.integer("repeats");
  if (repeats < 0) return c.error(Kind::invalid_attribute, "'repeat' {} times", repeats);
  Dims shape = *x->shape;
  shape[static_cast<size_t>(axis)] = shape[static_cast<size_t>(axis)] * repeats;
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

Stmt define_repeat(DefineContext& d) {
  BufferRef x = d.input(0);
  size_t axis = axis_of(d.attrs().integer("axis"), x->shape.size());
  return d.builder.compute(d.output(), [&](const Indices& i) {
    Indices from = i;
    from[axis] = arith::floordiv(i[axis], std::max<int64_t>(d.attrs().integer("repeats"), 1));
    return d.builder.load(x, from);
  });
}

constexpr OpDef kOps[] = {
    {.name = "permute_dims",
     .operands = kX,
     .attrs = kAxes,
     .infer = infer_permute,
     .define = define_permute,
     .gradient = derivatives::permute_dims,
     .doc = "axis i of the result is axis axes[i] of x; no axes: reversed"},
    {.name = "flip",
     .operands = kX,
     .attrs = kFlip,
     .infer = infer_flip,
     .define = define_flip,
     .gradient = derivatives::flip,
     .doc = "x reversed along the axes"},
    {.name = "broadcast_to",
     .operands = kXShape,
     .attrs = kMutual,
     .infer = infer_broadcast_to,
     .define = define_broadcast_to,
     .gradient = derivatives::broadcast,
     .doc = "x with dims of 1 repeated to shape; mutual: dims of 1 in shape keep those of x (ONNX Expand)"},
    {.name = "tile",
     .operands = kXRepeats,
     .infer = infer_tile,
     .define = define_tile,
     .gradient = derivatives::tile,
     .doc = "x repeated as a whole, repeats[i] times along axis i"},
    {.name = "repeat",
     .operands = kX,
     .attrs = kRepeat,
     .infer = infer_repeat,
     .define = define_repeat,
     .gradient = derivatives::repeat,
     .doc = "each element repeated along axis"},
};

}  // namespace
}  // namespace relaxc::ops::rearrange_family

RELAXC_OPERATORS(rearrange, kOps)
