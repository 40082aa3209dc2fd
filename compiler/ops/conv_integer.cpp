// conv_integer.cpp: sums of products of integers over windows, in int32 or int64.
//
// Channels are last, in data [N, spatial…, C] and in weights [window…, C/groups, O]: so the four neighbours that a dot
// product instruction multiplies are contiguous, and the output channels of a weight fill vector lanes. There is no
// padding, because a quantized tensor is padded with its zero point, which is data: pad it before. Zero points are not
// operands either; passes subtract their contribution. Weights may have 16 bits, for differences of bytes, which no dot
// product takes; a group that is one channel wide has few of them. Every sum is exact (it wraps beyond 2^31, which
// takes windows of 65,000 elements of bytes). Data of 16 bits is for networks with such activations; `out_dtype` can
// select int64 for their sums.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/window.h"

namespace relaxc::ops::conv_integer_family {
namespace {

constexpr OperandDef kOperands[] = {{"x"}, {"weight"}};
constexpr AttrDef kAttrs[] = {
    kStrides, kDilations, {"groups", AttrType::kInt, false, "1"}, {"out_dtype", AttrType::kDType, false, "int32"}};

bool is_byte(DType dtype) {
  return dtype.is_integer() && dtype.bits == 8;
}

bool is_short(DType dtype) {
  return is_byte(dtype) || dtype == DType::i(16);
}

InferResult infer(InferContext& c) {
  RELAXC_DO(expect_dtype(c, 0, is_short, "int8, uint8 or int16"));
  RELAXC_DO(expect_dtype(c, 1, is_short, "int8, uint8 or int16"));
  DType sums = c.op.attrs.dtype("out_dtype");
  if (sums != DType::i(32) && sums != DType::i(64))
    return c.error(Kind::dtype_mismatch, "'{}' to {}; it sums in int32 or int64", c.op.def->name, to_string(sums));
  RELAXC_TRY(const TensorInfo* data, c.tensor(0));
  RELAXC_TRY(const TensorInfo* filter, c.tensor(1));
  if (data->ndim < 3 || data->ndim > 5 || filter->ndim != data->ndim)
    return c.error(Kind::rank_mismatch, "'{}' takes data and weights of the same rank, 3 to 5, found {} and {}",
                   c.op.def->name, data->ndim, filter->ndim);
  int64_t groups = c.op.attrs.integer("groups");
  if (groups < 1) return c.error(Kind::invalid_attribute, "'{}' in {} groups", c.op.def->name, groups);
  const Dims &x = *data->shape, &weight = *filter->shape;
  size_t spatial = x.size() - 2;
  RELAXC_TRY(Windows w, read_windows(c, spatial, {}));
  RELAXC_DO(require_equal(c, x.back(), weight[spatial] * groups, "channels"));
  if (groups > 1)
    RELAXC_DO(c.require(
        arith::eq(arith::floormod(weight.back(), c.context.index(groups)), 0), kDerivedDim, c.context.index(groups),
        weight.back(), {Finding::kMultiple, "the number of output channels"},
        fmt::format("'{}': {} output channels in {} groups", c.op.def->name, to_string(weight.back()), groups)));
  Dims shape{x[0]};
  for (size_t k = 0; k < spatial; ++k) {
    RELAXC_DO(require_window(c, x[k + 1], weight[k], w, k));
    shape.push_back(arith::simplify(window_count(x[k + 1], weight[k], w, k, false), c.facts));
  }
  shape.push_back(weight.back());
  return one(tensor_info(c.context, std::move(shape), sums));
}

Stmt define(DefineContext& d) {
  BufferRef x = d.input(0), weight = d.input(1);
  size_t spatial = x->shape.size() - 2;
  int64_t groups = d.attrs().integer("groups");
  Windows w = windows_of(d.op, spatial, {});
  Expr inputs = weight->shape[spatial];
  bool one_input = inputs.is_constant(1);  // a loop over one channel is left out
  Dims reduced(weight->shape.begin(), weight->shape.begin() + static_cast<std::ptrdiff_t>(spatial));
  if (!one_input) reduced.push_back(inputs);
  Expr outputs = arith::simplify(arith::floordiv(weight->shape.back(), groups));
  DType sums = d.output()->dtype;
  auto add_product = [&](Expr sum, const Indices& i, const Indices& r) {
    Expr channel = one_input ? d.builder.index(0) : r.back();
    Expr group = outputs.is_constant(1) ? i.back() : arith::floordiv(i.back(), outputs);
    Indices data{i[0]}, filter;
    for (size_t k = 0; k < spatial; ++k) {
      data.push_back(tap(i[k + 1], r[k], x->shape[k + 1], w, k).position);
      filter.push_back(r[k]);
    }
    data.push_back(groups == 1 ? channel : group * inputs + channel);
    filter.push_back(channel);
    filter.push_back(i.back());
    return sum + cast(sums, d.builder.load(x, data)) * cast(sums, d.builder.load(weight, filter));
  };
  return d.builder.reduce(d.output(), reduced, d.context().zero(sums), add_product, "conv");
}

constexpr OpDef kOps[] = {
    {.name = "nn.conv_integer",
     .operands = kOperands,
     .attrs = kAttrs,
     .infer = infer,
     .define = define,
     .doc = "sums of products of integers: convolution of [N, spatial…, C] with weights [window…, C/groups, O]"},
};

}  // namespace
}  // namespace relaxc::ops::conv_integer_family

RELAXC_OPERATORS(conv_integer, kOps)
