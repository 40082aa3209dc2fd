// conv.cpp: convolution (cross-correlation, as in all frameworks) over 1, 2 or 3 spatial dims, with groups.
//
// Layouts are N C spatial… for data and O I/groups spatial… for weights. There is one reduce block over input channels
// and the window; the padding reads as zero through a clamped subscript, so that no load leaves its buffer even if both
// sides of a select are evaluated. A bias is a separate add, which fusion makes an epilogue.
//
// The transposed form gathers: each result element sums the inputs whose windows cover it, which needs a division by
// the stride but no scattering and no zeroed buffer, and every element is written once.
//
// `nn.conv_by_rows` is the same convolution of [N, H, C, W], whose rows are contiguous: what runs a few rows at a time
// (stream_rows) reads and writes them in place.
#include "compiler/ops/common/cast_hint.h"
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/window.h"
#include "compiler/ops/gradients/windows.h"

namespace relaxc::ops::conv_family {
namespace {

constexpr OperandDef kOperands[] = {{"x"}, {"weight"}};
constexpr AttrDef kOutDType{"out_dtype", AttrType::kString};
constexpr AttrDef kConv[] = {kStrides, kPadding, kDilations, {"groups", AttrType::kInt, false, "1"}, kOutDType};
constexpr AttrDef kTransposed[] = {
    kStrides, kPadding, kDilations, {"groups", AttrType::kInt, false, "1"}, {"output_padding", AttrType::kInts},
    kOutDType};

struct Shapes {
  const TensorInfo *x, *weight;
  size_t spatial;
  Expr groups;
};

/// Returns the number of groups of an op with data `x`; attribute 0 means one group for each channel.
Expr groups_of(const Op& op, const Dims& x) {
  int64_t groups = op.attrs.integer("groups");
  return groups == 0 ? x[1] : x[1].context().index(groups);
}

/// Checks ranks, dtypes and groups, which both forms of convolution have in common.
Result<Shapes> check(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(const TensorInfo* weight, c.tensor(1));
  if (x->ndim < 3 || x->ndim > 5 || weight->ndim != x->ndim)
    return c.error(Kind::rank_mismatch, "'{}' takes data and weights of the same rank, 3 to 5, found {} and {}",
                   c.op.def->name, x->ndim, weight->ndim);
  if (x->dtype != weight->dtype)
    return c.error(Kind::dtype_mismatch, "'{}' of {} and {}; {}", c.op.def->name, to_string(*x->dtype),
                   to_string(*weight->dtype), cast_hint(c));
  if (!is_number(*x->dtype))
    return c.error(Kind::dtype_mismatch, "'{}' of {} and {}", c.op.def->name, to_string(*x->dtype),
                   to_string(*weight->dtype));
  int64_t groups = c.op.attrs.integer("groups");
  if (groups < 0) return c.error(Kind::invalid_attribute, "'{}' in {} groups", c.op.def->name, groups);
  return Shapes{x, weight, static_cast<size_t>(x->ndim - 2), groups_of(c.op, channels_second(c.op, *x->shape))};
}

/// Returns the dtype that `out_dtype` gives, which leaves sums unrounded; without it, the dtype of the operands.
Result<DType> result_dtype(InferContext& c, DType operands) {
  const std::string& name = c.op.attrs.string("out_dtype");
  std::optional<DType> dtype = parse_dtype(name);
  if (name.empty() || name == "void" || dtype == operands) return operands;
  if (dtype == wide(operands)) return *dtype;
  return c.error(Kind::invalid_attribute, "out_dtype of '{}' of {} must be {}, in which it is summed, found \"{}\"",
                 c.op.def->name, to_string(operands), to_string(wide(operands)), name);
}

Expr divided(Expr e, Expr by) {
  return by.is_constant(1) ? e : arith::floordiv(e, by);
}

/// Requires that the number of channels is a multiple of the number of groups.
relaxc::Status require_groups(InferContext& c, Expr channels, Expr groups) {
  if (groups.is_constant(1) || groups == channels) return Done{};
  return c.require(
      arith::eq(arith::floormod(channels, groups), 0), kDerivedDim, groups, channels,
      {Finding::kMultiple, "the number of channels"},
      fmt::format("'{}': {} channels in {} groups", c.op.def->name, to_string(channels), to_string(groups)));
}

InferResult infer_conv(InferContext& c) {
  RELAXC_TRY(Shapes s, check(c));
  const Dims x = channels_second(c.op, *s.x->shape), &weight = *s.weight->shape;
  RELAXC_TRY(Windows w, read_windows(c, s.spatial, {}));
  RELAXC_DO(require_groups(c, weight[0], s.groups));
  if (!arith::prove_equal(x[1], weight[1] * s.groups, c.facts))
    RELAXC_DO(c.require(arith::eq(x[1], weight[1] * s.groups), kDerivedDim, weight[1] * s.groups, x[1],
                        {Finding::kExact, "the number of channels"},
                        fmt::format("'{}' of {} channels with weights for {} in {} groups", c.op.def->name,
                                    to_string(x[1]), to_string(weight[1]), to_string(s.groups))));
  Dims shape{x[0], weight[0]};
  for (size_t k = 0; k < s.spatial; ++k) {
    RELAXC_DO(require_window(c, x[k + 2], weight[k + 2], w, k));
    shape.push_back(arith::simplify(window_count(x[k + 2], weight[k + 2], w, k, false), c.facts));
  }
  RELAXC_TRY(DType dtype, result_dtype(c, *s.x->dtype));
  return one(tensor_info(c.context, channels_second(c.op, std::move(shape)), dtype));
}

/// Reduces into the result, or into a temporary of a wider dtype that is rounded to the result at the end.
template <typename Combine>
Stmt sum_into_result(DefineContext& d, const Dims& reduced, Combine combine) {
  tir::Builder& b = d.builder;
  BufferRef y = d.output();
  DType dtype = wide(y->dtype);
  auto into = [&](BufferRef out) { return b.reduce(out, reduced, d.context().zero(dtype), combine, "conv"); };
  if (dtype == y->dtype) return into(y);
  BufferRef sum = b.buffer("wide", dtype, y->shape);
  auto narrow = [&](const Indices& i) { return cast(y->dtype, b.load(sum, i)); };
  return b.alloc(sum, b.seq({into(sum), b.compute(y, narrow)}));
}

/// Returns one term of the sum for result `i` and window element `r` (a channel, then spatial offsets): the element of
/// `channel` at the taps that tap_of(o, k, dim, windows, axis) finds, or 0 outside of the data, times the weight whose
/// first two subscripts are `filter`.
template <typename TapOf>
Expr product(DefineContext& d, const Windows& w, const Indices& i, const Indices& r, Expr channel, Indices filter,
             TapOf tap_of) {
  const Dims dims = channels_second(d.op, d.input(0)->shape);
  Indices data{i[0], channel};
  std::vector<Tap> taps;
  for (size_t k = 0; k + 2 < dims.size(); ++k) {
    taps.push_back(tap_of(i[k + 2], r[k + 1], dims[k + 2], w, k));
    data.push_back(taps.back().clamped);
    filter.push_back(r[k + 1]);
  }
  Expr value = widen(d.builder.load(d.input(0), channels_second(d.op, data))), inside = all_inside(taps);
  if (inside) value = select(inside, value, like(value, 0));
  return value * widen(d.builder.load(d.input(1), filter));
}

Stmt define_conv(DefineContext& d) {
  BufferRef x = d.input(0), weight = d.input(1);
  Expr groups = groups_of(d.op, channels_second(d.op, x->shape));
  Windows w = windows_of(d.op, x->shape.size() - 2, {});
  Dims reduced(weight->shape.begin() + 1, weight->shape.end());
  Expr outputs = divided(weight->shape[0], groups);
  return sum_into_result(d, reduced, [&](Expr sum, const Indices& own, const Indices& r) {
    const Indices i = channels_second(d.op, own);
    Expr channel = groups.is_constant(1) ? r[0] : arith::floordiv(i[1], outputs) * weight->shape[1] + r[0];
    return sum + product(d, w, i, r, channel, {i[1], r[0]}, tap);
  });
}

std::vector<int64_t> output_padding(const Op& op, size_t spatial) {
  std::vector<int64_t> extra = op.attrs.ints("output_padding");
  if (extra.empty()) extra.assign(spatial, 0);
  if (extra.size() == 1) extra.assign(spatial, extra[0]);
  return extra;
}

/// A dim becomes (dim - 1) * stride + dilation * (kernel - 1) + 1 + output_padding - pads. Weights: I O/groups spatial.
InferResult infer_transposed(InferContext& c) {
  RELAXC_TRY(Shapes s, check(c));
  const Dims &x = *s.x->shape, &weight = *s.weight->shape;
  RELAXC_TRY(Windows w, read_windows(c, s.spatial, {}));
  std::vector<int64_t> extra = output_padding(c.op, s.spatial);
  if (extra.size() != s.spatial)
    return c.error(Kind::invalid_attribute, "output_padding of '{}' has {} numbers for {} spatial dims", c.op.def->name,
                   extra.size(), s.spatial);
  RELAXC_DO(require_equal(c, x[1], weight[0], "channels"));
  RELAXC_DO(require_groups(c, x[1], s.groups));
  Dims shape{x[0], weight[1] * s.groups};
  for (size_t k = 0; k < s.spatial; ++k) {
    Expr dim = (x[k + 2] - 1) * w.strides[k] + (weight[k + 2] - 1) * w.dilations[k] + 1 + extra[k] - w.pad_begin[k] -
               w.pad_end[k];
    dim = arith::simplify(dim, c.facts);
    RELAXC_DO(c.require(arith::le(c.context.index(1), x[k + 2]), kDerivedDim, c.context.index(1), x[k + 2],
                        {Finding::kAtLeast, fmt::format("spatial dim {}", k)},
                        fmt::format("'{}': spatial dim {} is empty", c.op.def->name, k)));
    RELAXC_DO(
        c.require(arith::le(c.context.index(0), dim), kDerivedDim, c.context.index(0), dim,
                  {Finding::kAtLeast, fmt::format("spatial dim {} of the result", k)},
                  fmt::format("'{}': spatial dim {} of the result would be {}", c.op.def->name, k, to_string(dim))));
    shape.push_back(dim);
  }
  RELAXC_TRY(DType dtype, result_dtype(c, *s.x->dtype));
  return one(tensor_info(c.context, std::move(shape), dtype));
}

/// Returns the tap p of x for result `o` and weight `k` along one axis: p * stride + k * dilation - pad = o.
Tap source(Expr o, Expr k, Expr dim, const Windows& w, size_t axis) {
  Context& context = o.context();
  Expr zero = context.index(0), reach = o + w.pad_begin[axis] - k * w.dilations[axis];
  int64_t stride = w.strides[axis];
  Tap t;
  t.position = stride == 1 ? reach : arith::floordiv(reach, stride);
  t.inside = arith::logical_and(arith::le(zero, reach), arith::lt(t.position, dim));
  if (stride > 1) t.inside = arith::logical_and(t.inside, arith::eq(arith::floormod(reach, stride), zero));
  t.clamped = arith::max(zero, arith::min(t.position, dim - 1));
  return t;
}

Stmt define_transposed(DefineContext& d) {
  BufferRef x = d.input(0), weight = d.input(1);
  Expr groups = groups_of(d.op, x->shape);
  Windows w = windows_of(d.op, x->shape.size() - 2, {});
  Expr inputs = divided(x->shape[1], groups), outputs = weight->shape[1];
  Dims reduced{inputs};
  reduced.insert(reduced.end(), weight->shape.begin() + 2, weight->shape.end());
  return sum_into_result(d, reduced, [&](Expr sum, const Indices& i, const Indices& r) {
    bool one_group = groups.is_constant(1);
    Expr channel = one_group ? r[0] : arith::floordiv(i[1], outputs) * inputs + r[0];
    Expr output = one_group ? i[1] : arith::floormod(i[1], outputs);
    return sum + product(d, w, i, r, channel, {channel, output}, source);
  });
}

constexpr OpDef kOps[] = {
    {.name = "nn.conv",
     .operands = kOperands,
     .attrs = kConv,
     .infer = infer_conv,
     .define = define_conv,
     .gradient = derivatives::conv,
     .doc = "convolution of [N, C, spatial…] with weights [O, C/groups, spatial…]; groups=0: one group per channel; a "
            "bias is "
            "added separately; out_dtype: dtype of the result, if not that of the operands"},
    {.name = "nn.conv_by_rows",
     .operands = kOperands,
     .attrs = kConv,
     .infer = infer_conv,
     .define = define_conv,
     .rows_first = true,
     .doc = "nn.conv of [N, H, C, W…]: dims 1 and 2 of data and result are exchanged"},
    {.name = "nn.conv_transpose",
     .operands = kOperands,
     .attrs = kTransposed,
     .infer = infer_transposed,
     .define = define_transposed,
     .gradient = derivatives::conv_transpose,
     .doc = "transposed convolution of [N, C, spatial…] with weights [C, O/groups, spatial…]"},
};

}  // namespace
}  // namespace relaxc::ops::conv_family

RELAXC_OPERATORS(conv, kOps)
