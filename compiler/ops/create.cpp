// create.cpp: creates tensors from shapes and scalars: constants, ranges, one-hot rows, triangles.
//
// Extents are shape values, so they may be symbols. `arange` takes index expressions (start, count, step) for integers;
// the caller computes the count, since languages round it differently. A float range is start + i * step of two
// scalars.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"
#include "compiler/ops/gradients/moves.h"

namespace relaxc::ops::create_family {
namespace {

constexpr OperandDef kFull[] = {{"shape"}, {"value"}};
constexpr OperandDef kShape[] = {{"shape"}};
constexpr OperandDef kRange[] = {{"bounds"}};
constexpr OperandDef kRangeOf[] = {{"start"}, {"step"}, {"count"}};
constexpr OperandDef kOneHot[] = {{"indices"}, {"on"}, {"off"}, {"depth"}};
constexpr OperandDef kTrilu[] = {{"x"}, {"k", OperandDef::kOptional}};
constexpr AttrDef kDType[] = {{"dtype", AttrType::kDType, false, "float32"}};
constexpr AttrDef kRangeAttrs[] = {{"dtype", AttrType::kDType, false, "int64"}};
constexpr AttrDef kAxis[] = {{"axis", AttrType::kInt, false, "-1"}};
constexpr AttrDef kUpper[] = {{"upper", AttrType::kBool, false, "True"}};
constexpr AttrDef kEye[] = {{"k", AttrType::kInt, false, "0"}, {"dtype", AttrType::kDType, false, "float32"}};

relaxc::Status require_sizes(InferContext& c, const Dims& dims) {
  for (Expr dim : dims)
    RELAXC_DO(c.require(arith::le(c.context.index(0), dim), kDerivedDim, c.context.index(0), dim,
                        {Finding::kAtLeast, "a dim"},
                        fmt::format("'{}' of shape {}: {} is negative", c.op.def->name, text(dims), to_string(dim))));
  return Done{};
}

/// Requires a tensor of one element and returns its struct info.
Result<const TensorInfo*> scalar(InferContext& c, size_t index) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(index));
  for (Expr dim : *x->shape)
    if (!dim.is_constant(1))
      return c.error(Kind::shape_mismatch, "operand '{}' of '{}' must have one element, found shape {}",
                     c.op.def->operands[index].name, c.op.def->name, text(*x->shape));
  return x;
}

Expr load_scalar(DefineContext& d, size_t index) {
  BufferRef x = d.input(index);
  return d.builder.load(x, Indices(x->shape.size(), d.context().index(0)));
}

InferResult infer_full(InferContext& c) {
  RELAXC_TRY(Dims shape, c.shape_value(0));
  RELAXC_DO(require_sizes(c, shape));
  RELAXC_TRY(const TensorInfo* value, scalar(c, 1));
  return one(tensor_info(c.context, std::move(shape), *value->dtype));
}

Stmt define_full(DefineContext& d) {
  return d.builder.compute(d.output(), [&](const Indices&) { return load_scalar(d, 1); });
}

InferResult infer_shape(InferContext& c) {
  RELAXC_TRY(Dims shape, c.shape_value(0));
  RELAXC_DO(require_sizes(c, shape));
  return one(tensor_info(c.context, std::move(shape), c.op.attrs.dtype("dtype")));
}

template <int Value>
Stmt define_constant(DefineContext& d) {
  return d.builder.compute(d.output(), [&](const Indices&) { return d.context().number(d.output()->dtype, Value); });
}

/// The operand is (start, count, step), as index expressions.
InferResult infer_arange(InferContext& c) {
  RELAXC_TRY(Dims bounds, c.shape_value(0));
  if (bounds.size() != 3)
    return c.error(Kind::invalid_value, "'{}' takes (start, count, step), found {}", c.op.def->name, text(bounds));
  RELAXC_DO(require_sizes(c, {bounds[1]}));
  return one(tensor_info(c.context, Dims{bounds[1]}, c.op.attrs.dtype("dtype")));
}

Stmt define_arange(DefineContext& d) {
  const Dims& bounds = d.shape_value(0);
  return d.builder.compute(d.output(),
                           [&](const Indices& i) { return cast(d.output()->dtype, bounds[0] + i[0] * bounds[2]); });
}

InferResult infer_range_of(InferContext& c) {
  RELAXC_TRY(const TensorInfo* start, scalar(c, 0));
  RELAXC_TRY(const TensorInfo* step, scalar(c, 1));
  RELAXC_TRY(Dims count, c.shape_value(2));
  if (start->dtype != step->dtype || count.size() != 1)
    return c.error(Kind::dtype_mismatch, "'{}' takes a start and a step of one dtype and one count", c.op.def->name);
  RELAXC_DO(require_sizes(c, count));
  return one(tensor_info(c.context, std::move(count), *start->dtype));
}

Stmt define_range_of(DefineContext& d) {
  BufferRef y = d.output();
  return d.builder.compute(y, [&](const Indices& i) {
    Expr start = widen(load_scalar(d, 0)), step = widen(load_scalar(d, 1));
    return cast(y->dtype, start + cast(start.dtype(), i[0]) * step);
  });
}

InferResult infer_eye(InferContext& c) {
  RELAXC_TRY(std::vector<Info> infos, infer_shape(c));
  if (infos[0]->as<TensorInfo>()->ndim < 2)
    return c.error(Kind::rank_mismatch, "'{}' takes a matrix shape", c.op.def->name);
  return infos;
}

Stmt define_eye(DefineContext& d) {
  BufferRef y = d.output();
  return d.builder.compute(y, [&](const Indices& i) {
    Expr on = arith::eq(i[i.size() - 2] + d.attrs().integer("k"), i.back());
    return select(on, d.context().number(y->dtype, 1), d.context().zero(y->dtype));
  });
}

InferResult infer_one_hot(InferContext& c) {
  RELAXC_TRY(const TensorInfo* indices, c.tensor(0));
  RELAXC_TRY(const TensorInfo* on, scalar(c, 1));
  RELAXC_TRY(const TensorInfo* off, scalar(c, 2));
  RELAXC_TRY(Dims depth, c.shape_value(3));
  if (on->dtype != off->dtype || depth.size() != 1)
    return c.error(Kind::dtype_mismatch, "'one_hot' takes two values of one dtype and one depth");
  if (!is_number(*indices->dtype)) return c.error(Kind::dtype_mismatch, "indices of 'one_hot' must be numbers");
  RELAXC_DO(require_sizes(c, depth));
  RELAXC_TRY(int64_t axis, c.axis(c.op.attrs.integer("axis"), indices->ndim, true));
  Dims shape = *indices->shape;
  shape.insert(shape.begin() + axis, depth[0]);
  return one(tensor_info(c.context, std::move(shape), *on->dtype));
}

/// Indices count from the end if negative; outside -depth..depth-1 the row is all `off`.
Stmt define_one_hot(DefineContext& d) {
  BufferRef y = d.output();
  size_t axis = axis_of(d.attrs().integer("axis"), y->shape.size());
  return d.builder.compute(y, [&](const Indices& i) {
    Indices at = i;
    at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
    DType i64 = DType::i(64);
    Expr index = cast(i64, d.builder.load(d.input(0), at)), depth = cast(i64, d.shape_value(3)[0]);
    Expr wrapped = select(arith::lt(index, like(index, 0)), index + depth, index);
    return select(arith::eq(wrapped, cast(i64, i[axis])), load_scalar(d, 1), load_scalar(d, 2));
  });
}

InferResult infer_trilu(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  if (x->ndim < 2) return c.error(Kind::rank_mismatch, "'trilu' takes matrices, found {} dims", x->ndim);
  if (c.has(1)) {
    RELAXC_TRY(Dims k, c.shape_value(1));
    if (k.size() != 1) return c.error(Kind::invalid_value, "'trilu' takes one diagonal, found {}", text(k));
  }
  return one(tensor_info(c.context, *x->shape, *x->dtype));
}

Stmt define_trilu(DefineContext& d) {
  BufferRef x = d.input(0), y = d.output();
  // No axis is longer than this, so clamping the diagonal changes no result and prevents overflow of the sum.
  constexpr int64_t kLongest = int64_t{1} << 60;
  Expr k = d.has(1) ? d.shape_value(1)[0] : d.context().index(0);
  k = arith::max(arith::min(k, d.context().index(kLongest)), d.context().index(-kLongest));
  return d.builder.compute(y, [&](const Indices& i) {
    Expr diagonal = i[i.size() - 2] + k;
    Expr kept = d.attrs().flag("upper") ? arith::le(diagonal, i.back()) : arith::le(i.back(), diagonal);
    return select(kept, d.builder.load(x, i), d.context().zero(y->dtype));
  });
}

constexpr OpDef kOps[] = {
    {.name = "full",
     .operands = kFull,
     .infer = infer_full,
     .define = define_full,
     .gradient = derivatives::broadcast,
     .doc = "shape filled with the one element of value"},
    {.name = "zeros",
     .operands = kShape,
     .attrs = kDType,
     .infer = infer_shape,
     .define = define_constant<0>,
     .doc = "shape filled with 0"},
    {.name = "ones",
     .operands = kShape,
     .attrs = kDType,
     .infer = infer_shape,
     .define = define_constant<1>,
     .doc = "shape filled with 1"},
    {.name = "arange",
     .operands = kRange,
     .attrs = kRangeAttrs,
     .infer = infer_arange,
     .define = define_arange,
     .doc = "start + i * step for i < count; bounds is the shape value (start, count, step)"},
    {.name = "range_of",
     .operands = kRangeOf,
     .infer = infer_range_of,
     .define = define_range_of,
     .doc = "start + i * step for i < count, of scalars of any dtype; count is a shape value"},
    {.name = "eye",
     .operands = kShape,
     .attrs = kEye,
     .infer = infer_eye,
     .define = define_eye,
     .doc = "1 on the k-th diagonal, else 0"},
    {.name = "one_hot",
     .operands = kOneHot,
     .attrs = kAxis,
     .infer = infer_one_hot,
     .define = define_one_hot,
     .doc = "on where the position along the new axis is the index, else off; depth is a shape value of one dim"},
    {.name = "trilu",
     .operands = kTrilu,
     .attrs = kUpper,
     .infer = infer_trilu,
     .define = define_trilu,
     .gradient = derivatives::trilu,
     .doc = "the part of each matrix on and above (or below) its k-th diagonal, else 0"},
};

}  // namespace
}  // namespace relaxc::ops::create_family

RELAXC_OPERATORS(create, kOps)
