// nn.cpp: operators of neural networks.
#include <algorithm>
#include <cmath>

#include "frontends/relax/tvm/tvm_layout.h"
#include "frontends/relay/operators.h"

namespace relaxc::relay::nn_family {
namespace {

/// Returns the attribute `param` as an axis of a tensor of `rank` dims, counted from 0.
Result<size_t> axis_of(TvmCall& c, std::string_view param, int64_t fallback, size_t rank) {
  RELAXC_TRY(int64_t axis, c.integer(param, fallback));
  auto dims = static_cast<int64_t>(rank);
  if (axis >= -dims && axis < dims) return static_cast<size_t>(axis < 0 ? axis + dims : axis);
  return c.error(param, Kind::invalid_attribute, "axis {} of {} is not one of {} axes", axis, c.spelled, rank);
}

/// bias_add(data, bias, axis)
Result<Term> bias_add(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * bias, c.tensor("bias"));
  RELAXC_TRY(size_t axis, axis_of(c, "axis", 1, x->shape().size()));
  if (bias->shape().size() != 1)
    return c.error("bias", Kind::rank_mismatch, "{} adds a vector, found {}", c.spelled, relax::to_string(bias->info));
  Exprs along(x->shape().size() - axis, c.context().index(1));
  along[0] = bias->shape()[0];
  RELAXC_TRY(bias, c.reshape(bias, std::move(along)));
  return c.term(c.op("add", {x, bias}));
}

/// Multiplies matrices, each of which may be transposed, and returns the result in `out_dtype`.
Result<Term> product(TvmCall& c, Value* a, Value* b, bool transpose_a, bool transpose_b) {
  RELAXC_TRY(DType dtype, c.dtype("out_dtype", a->dtype()));
  for (auto [x, transposed] : {std::pair{&a, transpose_a}, std::pair{&b, transpose_b}}) {
    if (!transposed) continue;
    Ints axes((*x)->shape().size());
    for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
    if (axes.size() > 1) std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    RELAXC_TRY(*x, c.permute(*x, axes));
  }
  bool wide = dtype != a->dtype() && dtype.is_integer();
  if (wide) {
    RELAXC_TRY(a, c.cast(a, dtype));
    RELAXC_TRY(b, c.cast(b, dtype));
  }
  relax::Attrs attrs;
  if (dtype != a->dtype()) attrs.set("out_dtype", to_string(dtype));
  return c.term(c.op("matmul", {a, b}, std::move(attrs)));
}

/// dense(data, weight, units, out_dtype): the weight is [units, inputs].
Result<Term> dense(TvmCall& c) {
  RELAXC_TRY(Value * a, c.tensor("data"));
  RELAXC_TRY(Value * b, c.tensor("weight"));
  return product(c, a, b, false, true);
}

/// matmul(tensor_a, tensor_b, transpose_a, transpose_b), batch_matmul, which transposes the second by default
Result<Term> matmul(TvmCall& c) {
  RELAXC_TRY(Value * a, c.tensor("a"));
  RELAXC_TRY(Value * b, c.tensor("b"));
  RELAXC_TRY(bool transpose_a, c.flag("transpose_a", false));
  RELAXC_TRY(bool transpose_b, c.flag("transpose_b", false));
  return product(c, a, b, transpose_a, transpose_b);
}

/// dropout(data, rate): returns the data and a mask of ones.
Result<Term> dropout(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * mask, c.op("ones", {c.build().shape(x->shape())}, {{"dtype", x->dtype()}}));
  return Term::sequence({Term::of(x), Term::of(mask)});
}

/// lrn(data, size, axis, bias, alpha, beta): alpha is divided by the size, as in relaxc's operator.
Result<Term> lrn(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(int64_t size, c.integer("size", 5));
  RELAXC_TRY(int64_t axis, c.integer("axis", 1));
  RELAXC_TRY(double alpha, c.real("alpha", 0));
  RELAXC_TRY(double beta, c.real("beta", 0));
  RELAXC_TRY(double bias, c.real("bias", 0));
  return c.term(
      c.op("nn.lrn", {x}, {{"size", size}, {"axis", axis}, {"alpha", alpha}, {"beta", beta}, {"bias", bias}}));
}

/// l2_normalize(data, eps, axis): x / sqrt(max(sum of squares, eps))
Result<Term> l2_normalize(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(double epsilon, c.real("eps", 0));
  RELAXC_TRY(Ints axes, c.ints("axis", {}));
  RELAXC_TRY(Value * sum, c.op("square", {x}));
  RELAXC_TRY(sum, c.op("sum", {sum}, {{"axis", axes}, {"keepdims", true}}));
  RELAXC_TRY(sum, c.op("maximum", {sum, c.build().scalar(x->dtype(), epsilon)}));
  RELAXC_TRY(sum, c.op("sqrt", {sum}));
  return c.term(c.op("divide", {x, sum}));
}

/// global_avg_pool2d(data, layout), global_max_pool2d
Result<Term> global_pool(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Ints axes, frontend::layout(c, "layout", "NC", frontend::channels_first(c)));
  if (x->shape().size() != axes.size())
    return c.error("data", Kind::rank_mismatch, "{} takes {} dims, found {}", c.spelled, axes.size(),
                   relax::to_string(x->info));
  Ints spatial(axes.begin() + 2, axes.end());
  std::sort(spatial.begin(), spatial.end());
  relax::Attrs attrs{{"axis", spatial}, {"keepdims", true}};
  bool average = c.spelled.find("avg") != std::string::npos;
  return c.term(c.op(average ? OpName("mean") : OpName("max"), {x}, std::move(attrs)));
}

/// adaptive_max_pool2d(data, output_size, layout): supported if all windows have one size.
Result<Term> adaptive_max_pool(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Ints axes, frontend::layout(c, "layout", "NC", frontend::channels_first(c)));
  if (!c.has("output_size")) return Term::of(x);
  RELAXC_TRY(Ints wanted, c.ints("output_size", {}));
  if (wanted.empty()) return Term::of(x);
  if (wanted.size() == 1) wanted.resize(axes.size() - 2, wanted[0]);
  if (x->shape().size() != axes.size() || wanted.size() + 2 != axes.size())
    return c.error("data", Kind::rank_mismatch, "{} takes {} dims, found {}", c.spelled, axes.size(),
                   relax::to_string(x->info));
  RELAXC_TRY(x, c.permute(x, axes));
  Ints window;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const int64_t* extent = x->shape()[i + 2].constant();
    if (extent == nullptr || wanted[i] <= 0 || *extent % wanted[i] != 0)
      return c.error("output_size", Kind::unsupported, "{} needs extents that its windows divide, found {} in {}",
                     c.spelled, wanted[i], relax::to_string(x->info));
    window.push_back(*extent / wanted[i]);
  }
  RELAXC_TRY(x, c.op("nn.max_pool", {x}, {{"pool_size", window}, {"strides", window}}));
  return c.term(c.permute(x, frontend::inverse(axes)));
}

/// pad(data, pad_value, pad_width, pad_mode), with a pair of widths for each axis.
Result<Term> pad(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(std::string mode, c.text("pad_mode", "constant"));
  std::transform(mode.begin(), mode.end(), mode.begin(),
                 [](char l) { return l >= 'A' && l <= 'Z' ? l - 'A' + 'a' : l; });
  RELAXC_TRY(std::vector<Ints> widths, c.int_lists("pad_width"));
  Exprs pads;
  for (size_t end : {0, 1})
    for (const Ints& axis : widths) {
      if (axis.size() != 2 || widths.size() != x->shape().size())
        return c.error("pad_width", Kind::invalid_attribute, "{} takes a beginning and an end for each of {} axes",
                       c.spelled, x->shape().size());
      pads.push_back(c.context().index(axis[end]));
    }
  std::vector<Value*> operands{x, c.build().shape(std::move(pads))};
  if (c.has("pad_value") && mode == "constant") {
    RELAXC_TRY(Value * value, c.element("pad_value", x->dtype()));
    RELAXC_TRY(value, c.cast(value, x->dtype()));
    RELAXC_TRY(value, c.reshape(value, {}));
    operands.push_back(value);
  }
  return c.term(c.op("pad", std::move(operands), {{"mode", mode}}));
}

/// Returns the elements `from` to `to` of an axis in reverse order, to be concatenated with x.
Result<Value*> mirrored(TvmCall& c, Value* x, int64_t axis, arith::Expr from, arith::Expr to) {
  relax::GraphBuilder& b = c.build();
  RELAXC_TRY(Value * part, c.op("strided_slice", {x, b.shape({from}), b.shape({to})}, {{"axes", Ints{axis}}}));
  return c.op("flip", {part}, {{"axis", Ints{axis}}});
}

/// mirror_pad(data, mode, pad_width): "SYMMETRIC" repeats the border, "REFLECT" does not.
Result<Term> mirror_pad(TvmCall& c) {
  RELAXC_TRY(std::string mode, c.text("pad_mode", "SYMMETRIC"));
  if (mode != "SYMMETRIC") return pad(c);
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(std::vector<Ints> widths, c.int_lists("pad_width"));
  if (widths.size() != x->shape().size())
    return c.error("pad_width", Kind::invalid_attribute, "{} takes a beginning and an end for each of {} axes",
                   c.spelled, x->shape().size());
  for (size_t axis = 0; axis < widths.size(); ++axis) {
    if (widths[axis].size() != 2) return c.error("pad_width", Kind::invalid_attribute, "not pairs of widths");
    auto at = static_cast<int64_t>(axis);
    arith::Expr extent = x->shape()[axis], zero = c.context().index(0);
    std::vector<Value*> parts{x};
    if (widths[axis][0] > 0) {
      RELAXC_TRY(Value * before, mirrored(c, x, at, zero, c.context().index(widths[axis][0])));
      parts.insert(parts.begin(), before);
    }
    if (widths[axis][1] > 0) {
      RELAXC_TRY(Value * after,
                 mirrored(c, x, at, arith::simplify(extent - c.context().index(widths[axis][1])), extent));
      parts.push_back(after);
    }
    if (parts.size() == 1) continue;
    RELAXC_TRY(x, c.op("concat", std::move(parts), {{"axis", at}}));
  }
  return Term::of(x);
}

/// layer_norm(data, gamma, beta, axis, epsilon, center, scale): gamma and beta are along `axis`, not the last axis.
Result<Term> layer_norm(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(size_t axis, axis_of(c, "axes", -1, x->shape().size()));
  for (std::string_view param : {"gamma", "beta"}) {
    RELAXC_TRY(Value * factor, c.tensor(param));
    if (factor->shape().size() != 1 || axis + 1 == x->shape().size()) continue;
    Exprs along(x->shape().size() - axis, c.context().index(1));
    along[0] = factor->shape()[0];
    RELAXC_TRY(factor, c.reshape(factor, std::move(along)));
    c.put(param, Term::of(factor));
  }
  return frontend::find_tvm_operator(c.name)->read(c);
}

/// depth_to_space(data, block_size, layout, mode), space_to_depth
Result<Term> sub_pixel(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(int64_t block, c.integer("block_size", 1));
  RELAXC_TRY(Ints axes, frontend::layout(c, "layout", "NC", "NCHW"));
  RELAXC_TRY(x, c.permute(x, axes));
  relax::Attrs attrs{{"block_size", block}};
  if (c.name == "depth_to_space") {
    RELAXC_TRY(std::string mode, c.text("mode", "DCR"));
    attrs.set("mode", mode);
  }
  RELAXC_TRY(x, c.op(c.own_name(), {x}, std::move(attrs)));
  return c.term(c.permute(x, frontend::inverse(axes)));
}

/// dilate(data, strides, dilation_value): inserts strides - 1 copies of the value between elements of x.
Result<Term> dilate(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Ints strides, c.ints("strides", {}));
  RELAXC_TRY(double filling, c.real("dilation_value", 0));
  relax::GraphBuilder& b = c.build();
  if (strides.size() != x->shape().size())
    return c.error("strides", Kind::invalid_attribute, "{} strides for {} axes", strides.size(), x->shape().size());
  arith::Expr zero = c.context().index(0), one = c.context().index(1);
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    if (strides[axis] < 1) return c.error("strides", Kind::invalid_attribute, "a stride of {}", strides[axis]);
    if (strides[axis] == 1) continue;
    Exprs split = x->shape(), joined = split;
    split.insert(split.begin() + static_cast<int64_t>(axis) + 1, one);
    Exprs pads(2 * split.size(), zero);
    pads[split.size() + axis + 1] = c.context().index(strides[axis] - 1);
    arith::Expr extent = joined[axis], stride = c.context().index(strides[axis]);
    joined[axis] = extent * stride;
    RELAXC_TRY(x, c.reshape(x, std::move(split)));
    RELAXC_TRY(x, c.op("pad", {x, b.shape(std::move(pads)), b.scalar(x->dtype(), filling)},
                       {{"mode", std::string("constant")}}));
    RELAXC_TRY(x, c.reshape(x, std::move(joined)));
    Value *begin = b.shape({zero}), *end = b.shape({arith::simplify((extent - one) * stride + one)});
    RELAXC_TRY(x, c.op("strided_slice", {x, begin, end}, {{"axes", Ints{static_cast<int64_t>(axis)}}}));
  }
  return Term::of(x);
}

constexpr std::string_view kConv =
    "data, weight, strides, padding, dilation, groups, channels, kernel_size, data_layout, kernel_layout, out_layout, "
    "out_dtype";
constexpr std::string_view kTransposed =
    "data, weight, channels, kernel_size, strides, output_padding, padding, dilation, groups, data_layout, "
    "kernel_layout, out_layout, out_dtype";
constexpr std::string_view kPool =
    "data, pool_size, strides, dilation, padding, layout, out_layout, ceil_mode, count_include_pad";
constexpr std::string_view kAdaptive = "data, output_size, layout, out_layout";
constexpr std::string_view kMatmul = "tensor_a:a, tensor_b:b, units, out_dtype, transpose_a=False, transpose_b=False";

constexpr Row kRows[] = {
    {"nn.conv1d", kConv, "nn.conv1d"},
    {"nn.conv2d", kConv, "nn.conv2d"},
    {"nn.conv3d", kConv, "nn.conv3d"},
    {"nn.contrib_conv2d_NCHWc", kConv, "nn.conv2d"},
    {"nn.contrib_depthwise_conv2d_NCHWc", kConv, "nn.conv2d"},
    {"nn.conv1d_transpose", kTransposed, "nn.conv1d_transpose"},
    {"nn.conv2d_transpose", kTransposed, "nn.conv2d_transpose"},
    {"nn.conv3d_transpose", kTransposed, "nn.conv3d_transpose"},
    {"nn.max_pool1d", kPool, "nn.max_pool1d"},
    {"nn.max_pool2d", kPool, "nn.max_pool2d"},
    {"nn.max_pool3d", kPool, "nn.max_pool3d"},
    {"nn.avg_pool1d", kPool, "nn.avg_pool1d"},
    {"nn.avg_pool2d", kPool, "nn.avg_pool2d"},
    {"nn.avg_pool3d", kPool, "nn.avg_pool3d"},
    {"nn.adaptive_avg_pool1d", kAdaptive, "nn.adaptive_avg_pool1d"},
    {"nn.adaptive_avg_pool2d", kAdaptive, "nn.adaptive_avg_pool2d"},
    {"nn.adaptive_avg_pool3d", kAdaptive, "nn.adaptive_avg_pool3d"},
    {"nn.adaptive_max_pool1d", kAdaptive, {}, adaptive_max_pool, "windows of one size"},
    {"nn.adaptive_max_pool2d", kAdaptive, {}, adaptive_max_pool, "windows of one size"},
    {"nn.adaptive_max_pool3d", kAdaptive, {}, adaptive_max_pool, "windows of one size"},
    {"nn.global_avg_pool2d", "data, layout, out_layout", {}, global_pool},
    {"nn.global_max_pool2d", "data, layout, out_layout", {}, global_pool},
    {"nn.bias_add", "data, bias, axis=1", {}, bias_add},
    {"nn.dense", "data, weight, units, out_dtype", {}, dense},
    {"nn.matmul", kMatmul, {}, matmul},
    {"nn.batch_matmul", "tensor_a:a, tensor_b:b, out_dtype, transpose_a=False, transpose_b=True", {}, matmul},
    {"nn.batch_norm", "data, gamma, beta, moving_mean, moving_var, axis=1, epsilon=1e-5, center=True, scale=True",
     "nn.batch_norm"},
    {"nn.layer_norm", "data, gamma, beta, axis:axes=-1, epsilon=1e-5, center=True, scale=True", "nn.layer_norm",
     layer_norm},
    {"nn.instance_norm", "data, gamma, beta, axis=1, epsilon=1e-5, center=True, scale=True", "nn.instance_norm"},
    {"nn.group_norm", "data, gamma, beta, num_groups, axis=1, epsilon=1e-5, center=True, scale=True", "nn.group_norm"},
    {"nn.dropout", "data, rate", {}, dropout},
    {"nn.lrn", "data:x, size=5, axis=1, bias=2, alpha=0.0001, beta=0.75", {}, lrn},
    {"nn.l2_normalize", "data, eps, axis", {}, l2_normalize},
    {"nn.batch_flatten", "data", "nn.batch_flatten"},
    {"nn.pad", "data, pad_value, pad_width, pad_mode", {}, pad},
    {"nn.mirror_pad", "data, mode:pad_mode=SYMMETRIC, pad_width", {}, mirror_pad},
    {"nn.depth_to_space", "data, block_size, layout, mode", "depth_to_space", sub_pixel},
    {"nn.space_to_depth", "data, block_size, layout, mode", "space_to_depth", sub_pixel},
    {"nn.dilate", "data, strides, dilation_value", {}, dilate},
    {"nn.cross_entropy_with_logits", "predictions, targets:labels", "nn.cross_entropy_with_logits"},
    {"nn.nll_loss", "predictions, targets, weights, reduction, ignore_index", "nn.nll_loss"},
};

}  // namespace
}  // namespace relaxc::relay::nn_family

RELAXC_RELAY_OPERATORS(nn, kRows)
