// slice.cpp: elements of a range along some axes, with strides.
//
// `strided_slice` has NumPy's semantics: negative begins and ends count from the end, and parts outside are cut off; a
// negative stride goes backwards. Begins, ends and strides are shape values, so they may be symbols; constant ones need
// no clamps at run time. As exporters write it, an end (or begin) of 2^31 - 1 or more means the axis's end, and with a
// negative stride an end of -2^31 + 1 or less means its beginning. `slice_part` is the simple form: a begin and an
// extent along one axis, known to be in range.
#include "compiler/ops/common/shape.h"
#include "compiler/ops/gradients/moves.h"

namespace relaxc::ops::slice_family {
namespace {

constexpr OperandDef kSlice[] = {{"x"}, {"begin"}, {"end"}, {"strides", OperandDef::kOptional}};
constexpr OperandDef kPart[] = {{"x"}, {"begin"}, {"extent"}};
constexpr AttrDef kAxes[] = {{"axes", AttrType::kInts, true}};
constexpr AttrDef kAxis[] = {{"axis", AttrType::kInt, true}};

constexpr int64_t kFar = (int64_t{1} << 31) - 1;
/// No axis is longer, and sums with this do not overflow. A larger stride takes one element, and so does this one.
constexpr int64_t kLongest = int64_t{1} << 60;

struct Cut {
  size_t axis;
  Expr begin, extent, stride;
};

/// Counts `at` from the end if it is negative, and clamps it to low..high.
Expr position(Expr at, Expr dim, Expr low, Expr high) {
  if (const int64_t* value = at.constant()) {
    if (*value >= kFar) return high;
    if (*value <= -kFar) return low;
    at = *value < 0 ? at + dim : at;
  } else if (!arith::prove_le(at.context().index(0), at)) {
    at = select(arith::lt(at, at.context().index(0)), at + dim, at);
  }
  return arith::max(low, arith::min(at, high));
}

/// Returns `dim + more`, added to both sides of a maximum: the dim of a slice of a slice is no larger then than that of
/// a slice.
Expr plus(Expr dim, int64_t more) {
  const auto* both = dim.as<arith::Max>();
  return both != nullptr ? arith::max(both->a + more, both->b + more) : dim + more;
}

/// Returns the number of elements between two positions, which are clamped to 0..dim unless they are numbers: where
/// `begin` is behind the axis or `end` before it, the difference is negative without a clamp as well.
Expr forward_extent(Expr dim, Expr begin, Expr end, std::pair<Expr, Expr> clamped, Expr stride) {
  auto [from, to] = clamped;
  const int64_t *first = begin.constant(), *last = end.constant();
  const bool counts_from_end = last != nullptr && (*last >= kFar || (*last < 0 && *last > -kFar));
  const bool counts_from_start = first != nullptr && *first >= 0 && *first < kFar;
  if (counts_from_start && counts_from_end)
    to = plus(dim, (*last < 0 ? *last : 0) - *first), from = dim.context().index(0);
  else if (counts_from_start)
    from = begin;
  return arith::max(dim.context().index(0), arith::ceildiv(to - from, stride));
}

Cut slice_axis(size_t axis, Expr dim, Expr begin, Expr end, Expr stride, const arith::Facts& facts) {
  Context& context = dim.context();
  Expr zero = context.index(0), minus_one = context.index(-1), last = dim - 1;
  if (const int64_t* value = stride.constant()) stride = context.index(std::clamp(*value, -kLongest, kLongest));
  auto forward = [&] {
    Expr from = position(begin, dim, zero, dim), to = position(end, dim, zero, dim);
    return std::pair(from, forward_extent(dim, begin, end, {from, to}, stride));
  };
  auto backward = [&] {
    Expr from = position(begin, dim, minus_one, last), to = position(end, dim, minus_one, last);
    return std::pair(from, arith::max(zero, arith::ceildiv(from - to, zero - stride)));
  };
  Cut cut{axis, {}, {}, stride};
  if (arith::prove_lt(zero, stride, facts)) {
    std::tie(cut.begin, cut.extent) = forward();
  } else if (arith::prove_lt(stride, zero, facts)) {
    std::tie(cut.begin, cut.extent) = backward();
  } else {
    auto up = forward(), down = backward();
    Expr is_up = arith::lt(zero, stride);
    cut.begin = select(is_up, up.first, down.first);
    cut.extent = select(is_up, up.second, down.second);
  }
  cut.begin = arith::simplify(cut.begin, facts);
  cut.extent = arith::simplify(cut.extent, facts);
  return cut;
}

const Dims& dims_of(const Op& op, size_t operand) {
  return *op.operand(operand)->info->as<relax::ShapeInfo>()->dims;
}

std::vector<Cut> cuts_of(const Op& op, const Dims& shape, const arith::Facts& facts) {
  std::vector<Cut> cuts;
  const auto& axes = op.attrs.ints("axes");
  const Dims &begin = dims_of(op, 1), &end = dims_of(op, 2);
  for (size_t k = 0; k < begin.size(); ++k) {
    size_t axis = axes.empty() ? k : axis_of(axes[k], shape.size());
    Expr stride = op.operand(3) == nullptr ? begin[k].context().index(1) : dims_of(op, 3)[k];
    cuts.push_back(slice_axis(axis, shape[axis], begin[k], end[k], stride, facts));
  }
  return cuts;
}

relaxc::Status check_slice(InferContext& c, const TensorInfo& x) {
  RELAXC_TRY(Dims begin, c.shape_value(1));
  RELAXC_TRY(Dims end, c.shape_value(2));
  Dims strides(begin.size(), c.context.index(1));
  if (c.has(3)) {
    RELAXC_TRY(strides, c.shape_value(3));
  }
  const auto& axes = c.op.attrs.ints("axes");
  if (!axes.empty()) RELAXC_DO(all_or_axes(c, axes, x.ndim));
  size_t count = axes.empty() ? begin.size() : axes.size();
  if (begin.size() != count || end.size() != count || strides.size() != count || count > x.shape->size())
    return c.error(Kind::invalid_value, "'strided_slice' of {} dims has {} begins, {} ends, {} strides and {} axes",
                   x.ndim, begin.size(), end.size(), strides.size(), axes.size());
  for (Expr stride : strides)
    RELAXC_DO(c.require(arith::ne(stride, c.context.index(0)), kDerivedDim, c.context.index(0), stride,
                        {Finding::kZero, "a step"}, "a stride of 'strided_slice' is 0"));
  return Done{};
}

InferResult infer_slice(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_DO(check_slice(c, *x));
  Dims shape = *x->shape;
  for (const Cut& cut : cuts_of(c.op, *x->shape, c.facts)) shape[cut.axis] = cut.extent;
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

Stmt define_slice(DefineContext& d) {
  BufferRef x = d.input(0);
  std::vector<Cut> cuts = cuts_of(d.op, x->shape, {});
  return d.builder.compute(d.output(), [&](const Indices& i) {
    Indices from = i;
    for (const Cut& cut : cuts) from[cut.axis] = cut.begin + i[cut.axis] * cut.stride;
    return d.builder.load(x, from);
  });
}

InferResult infer_part(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(int64_t axis, c.axis(c.op.attrs.integer("axis"), x->ndim));
  RELAXC_TRY(Dims begin, c.shape_value(1));
  RELAXC_TRY(Dims extent, c.shape_value(2));
  if (begin.size() != 1 || extent.size() != 1)
    return c.error(Kind::invalid_value, "'slice_part' takes one begin and one extent, found {} and {}", begin.size(),
                   extent.size());
  Dims shape = *x->shape;
  Expr zero = c.context.index(0), dim = shape[static_cast<size_t>(axis)], end = begin[0] + extent[0];
  RELAXC_DO(c.require(arith::le(zero, begin[0]), kDerivedDim, zero, begin[0], {Finding::kAtLeast, "the begin"},
                      "'slice_part' begins before the axis"));
  RELAXC_DO(c.require(arith::le(zero, extent[0]), kDerivedDim, zero, extent[0], {Finding::kAtLeast, "the extent"},
                      "'slice_part' has a negative extent"));
  if (!arith::prove_le(arith::simplify(end, c.facts), dim, c.facts))
    RELAXC_DO(c.require(arith::le(end, dim), kDerivedDim, dim, end, {Finding::kAtMost, "the end"},
                        "'slice_part' ends after the axis"));
  shape[static_cast<size_t>(axis)] = extent[0];
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

Stmt define_part(DefineContext& d) {
  BufferRef x = d.input(0);
  size_t axis = axis_of(d.attrs().integer("axis"), x->shape.size());
  return d.builder.compute(d.output(), [&](const Indices& i) {
    Indices from = i;
    from[axis] = d.shape_value(1)[0] + i[axis];
    return d.builder.load(x, from);
  });
}

/// Puts what each axis was cut to back to its places.
Values slice_gradient(relax::GraphBuilder& b, const Op& op, ByResults by_results) {
  GradientSite s(b, op, by_results);
  Value* g = s.g.value;
  for (const Cut& cut : cuts_of(op, s.shape(0), {})) {
    const int64_t* step = cut.stride.constant();
    if (step == nullptr) return refuse_gradient(b, op, "with an open stride");
    g = derivatives::spread(s.build, g, cut.axis, s.shape(0)[cut.axis], cut.begin, *step);
  }
  return s.done({g});
}

constexpr OpDef kOps[] = {
    {.name = "strided_slice",
     .operands = kSlice,
     .attrs = kAxes,
     .infer = infer_slice,
     .define = define_slice,
     .gradient = slice_gradient,
     .doc = "x[begin:end:stride] along the axes (none: the first ones), as NumPy counts and cuts"},
    {.name = "slice_part",
     .operands = kPart,
     .attrs = kAxis,
     .infer = infer_part,
     .define = define_part,
     .gradient = derivatives::slice_part,
     .doc = "`extent` elements from `begin` on along one axis, within its bounds"},
};

}  // namespace
}  // namespace relaxc::ops::slice_family

RELAXC_OPERATORS(slice, kOps)
