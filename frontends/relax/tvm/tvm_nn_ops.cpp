// tvm_nn_ops.cpp: converts TVM's neural network operators to operators of relaxc.
//
// The comment of each function begins with TVM's form of the call; parameters that it omits have their default.
#include <algorithm>
#include <cmath>

#include "frontends/relax/tvm/tvm_layout.h"
#include "frontends/relax/tvm/tvm_names.h"

namespace relaxc::frontend {
namespace {

using namespace tvm_names;

/// Returns one number per spatial dim.
Result<Ints> spatial(TvmCall& c, std::string_view param, int64_t fallback) {
  size_t count = spatial_dims(c.name);
  RELAXC_TRY(Ints numbers, c.ints(param, {fallback}));
  if (numbers.size() == 1) numbers.resize(count, numbers[0]);
  if (numbers.size() == count) return numbers;
  return c.error(param, Kind::invalid_attribute, "'{}' of {} has {} numbers for {} spatial dims", param, c.spelled,
                 numbers.size(), count);
}

/// Returns the padding, written as one number, one per dim, or all starts and then all ends.
Result<Ints> padding(TvmCall& c) {
  size_t count = spatial_dims(c.name);
  RELAXC_TRY(Ints numbers, c.ints("padding", {0}));
  if (numbers.size() == 1) numbers.resize(count, numbers[0]);
  if (numbers.size() == count) {
    Ints begin = numbers;
    numbers.insert(numbers.end(), begin.begin(), begin.end());
  }
  if (numbers.size() == 2 * count) return numbers;
  return c.error("padding", Kind::invalid_attribute, "'padding' of {} has {} numbers for {} spatial dims", c.spelled,
                 numbers.size(), count);
}

/// conv2d(data, weight, strides, padding, dilation, groups, data_layout, kernel_layout, out_layout, out_dtype), and
/// conv2d_transpose with output_padding after padding.
Result<Term> conv(TvmCall& c) {
  bool transposed = c.name.find("transpose") != std::string::npos;
  std::string first = channels_first(c), kernel = (transposed ? "IO" : "OI") + first.substr(2);
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * weight, c.tensor("weight"));
  RELAXC_TRY(DType dtype, c.dtype("out_dtype", x->dtype()));
  RELAXC_TRY(Ints data_axes, layout(c, "data_layout", "NC", first));
  RELAXC_TRY(std::string data_layout, c.text("data_layout", first));
  RELAXC_TRY(Ints out_axes, layout(c, "out_layout", "NC", data_layout));
  RELAXC_TRY(Ints weight_axes, layout(c, "kernel_layout", transposed ? "IO" : "OI", kernel));
  RELAXC_TRY(Ints strides, spatial(c, "strides", 1));
  RELAXC_TRY(Ints pads, padding(c));
  RELAXC_TRY(Ints dilation, spatial(c, "dilation", 1));
  RELAXC_TRY(int64_t groups, c.integer("groups", 1));
  relax::Attrs attrs{{"strides", strides}, {"padding", pads}, {"dilation", dilation}, {"groups", groups}};
  if (transposed) {
    RELAXC_TRY(Ints extra, spatial(c, "output_padding", 0));
    attrs.set("output_padding", extra);
  }
  RELAXC_TRY(x, c.cast(x, dtype));
  RELAXC_TRY(weight, c.cast(weight, dtype));
  RELAXC_TRY(std::string out_layout, c.text("out_layout", data_layout));
  RELAXC_TRY(std::string kernel_layout, c.text("kernel_layout", kernel));
  RELAXC_TRY(x, join_blocks(c, x, "data_layout", data_layout));
  RELAXC_TRY(weight, join_blocks(c, weight, "kernel_layout", kernel_layout));
  if (x->shape().size() != data_axes.size() || weight->shape().size() != weight_axes.size())
    return c.error("data", Kind::rank_mismatch, "{} takes data and weights of {} dims, found {} and {}", c.spelled,
                   data_axes.size(), relax::to_string(x->info), relax::to_string(weight->info));
  RELAXC_TRY(x, c.permute(x, data_axes));
  RELAXC_TRY(weight, c.permute(weight, weight_axes));
  RELAXC_TRY(x, c.op(transposed ? OpName("nn.conv_transpose") : OpName("nn.conv"), {x, weight}, std::move(attrs)));
  RELAXC_TRY(x, c.permute(x, inverse(out_axes)));
  return c.term(split_blocks(c, x, "out_layout", out_layout.empty() ? data_layout : out_layout));
}

/// max_pool2d(data, pool_size, strides, padding, dilation, ceil_mode, count_include_pad, layout, out_layout),
/// avg_pool2d
Result<Term> pool(TvmCall& c) {
  bool average = c.name.find("avg") != std::string::npos;
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(std::string data_layout, c.text("layout", channels_first(c)));
  RELAXC_TRY(Ints axes, layout(c, "layout", "NC", data_layout));
  RELAXC_TRY(Ints out_axes, layout(c, "out_layout", "NC", data_layout));
  RELAXC_TRY(Ints size, spatial(c, "pool_size", 1));
  RELAXC_TRY(Ints strides, spatial(c, "strides", 1));
  RELAXC_TRY(Ints pads, padding(c));
  RELAXC_TRY(Ints dilation, spatial(c, "dilation", 1));
  RELAXC_TRY(bool ceil, c.flag("ceil_mode", false));
  RELAXC_TRY(bool include, c.flag("count_include_pad", false));
  relax::Attrs attrs{
      {"pool_size", size}, {"strides", strides}, {"padding", pads}, {"dilation", dilation}, {"ceil_mode", ceil}};
  if (average) attrs.set("count_include_pad", include);
  RELAXC_TRY(std::string out_layout, c.text("out_layout", data_layout));
  RELAXC_TRY(x, join_blocks(c, x, "layout", data_layout));
  if (x->shape().size() != axes.size())
    return c.error("data", Kind::rank_mismatch, "{} takes {} dims, found {}", c.spelled, axes.size(),
                   relax::to_string(x->info));
  RELAXC_TRY(x, c.permute(x, axes));
  RELAXC_TRY(x, c.op(average ? OpName("nn.avg_pool") : OpName("nn.max_pool"), {x}, std::move(attrs)));
  RELAXC_TRY(x, c.permute(x, inverse(out_axes)));
  return c.term(split_blocks(c, x, "out_layout", out_layout.empty() ? data_layout : out_layout));
}

/// adaptive_avg_pool2d(data, output_size, layout, out_layout): to one element by the mean of all, where it divides the
/// extents by windows of one size, else by windows of different sizes.
Result<Term> adaptive_pool(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(std::string data_layout, c.text("layout", channels_first(c)));
  RELAXC_TRY(Ints axes, layout(c, "layout", "NC", data_layout));
  RELAXC_TRY(Ints out_axes, layout(c, "out_layout", "NC", data_layout));
  RELAXC_TRY(std::string out_layout, c.text("out_layout", data_layout));
  if (out_layout.empty()) out_layout = data_layout;
  RELAXC_TRY(x, join_blocks(c, x, "layout", data_layout));
  if (x->shape().size() != axes.size())
    return c.error("data", Kind::rank_mismatch, "{} takes {} dims, found {}", c.spelled, axes.size(),
                   relax::to_string(x->info));
  RELAXC_TRY(x, c.permute(x, axes));
  auto given = [&](Value* y) -> Result<Term> {
    RELAXC_TRY(y, c.permute(y, inverse(out_axes)));
    return c.term(split_blocks(c, y, "out_layout", out_layout));
  };
  if (!c.has("output_size")) return given(x);
  RELAXC_TRY(Ints wanted, spatial(c, "output_size", 1));
  Ints spatial_axes, window;
  bool one = true, even = true;
  for (size_t i = 0; i < wanted.size(); ++i) {
    spatial_axes.push_back(static_cast<int64_t>(i + 2));
    const int64_t* extent = x->shape()[i + 2].constant();
    one = one && wanted[i] == 1;
    even = even && extent != nullptr && wanted[i] > 0 && *extent % wanted[i] == 0 && *extent > 0;
    window.push_back(even ? *extent / wanted[i] : 0);
  }
  if (one) {
    RELAXC_TRY(x, c.op("mean", {x}, {{"axis", spatial_axes}, {"keepdims", true}}));
  } else if (even) {
    RELAXC_TRY(x, c.op("nn.avg_pool", {x}, {{"pool_size", window}, {"strides", window}}));
  } else {
    RELAXC_TRY(x, c.op("nn.adaptive_avg_pool", {x}, {{"output_size", wanted}}));
  }
  return given(x);
}

/// pad(data, pad_width, pad_value, pad_mode): beginning and end of each axis in turn.
Result<Term> pad(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Exprs widths, c.dims("pad_width"));
  RELAXC_TRY(std::string mode, c.text("pad_mode", "constant"));
  Exprs pads;
  for (size_t end : {0, 1})
    for (size_t i = end; i < widths.size(); i += 2) pads.push_back(widths[i]);
  std::vector<Value*> operands = {x, c.build().shape(std::move(pads))};
  if (c.has("pad_value")) {
    RELAXC_TRY(Value * value, c.element("pad_value", x->dtype()));
    operands.push_back(value);
  }
  if (mode == "replicate") mode = "edge";
  if (mode == "circular") mode = "wrap";
  return c.term(c.op("pad", std::move(operands), {{"mode", mode}}));
}

/// leakyrelu(data, alpha)
Result<Term> leaky_relu(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(double alpha, c.real("alpha", 0.01));
  return c.term(c.op("nn.leaky_relu", {x}, {{"alpha", alpha}}));
}

/// prelu(data, alpha, axis): a vector is along the axis, which is 1 where none is given; any other alpha broadcasts.
Result<Term> prelu(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * alpha, c.tensor("alpha"));
  const bool vector = alpha->shape().size() == 1 && !alpha->shape()[0].is_constant(1) && x->shape().size() > 1;
  if (c.has("axis") || vector) {
    RELAXC_TRY(int64_t axis, c.integer("axis", 1));
    int64_t rank = static_cast<int64_t>(x->shape().size());
    if (axis < -rank || axis >= rank || alpha->shape().size() != 1)
      return c.error("axis", Kind::invalid_attribute, "R.nn.prelu takes a vector along an axis of {}",
                     relax::to_string(x->info));
    Exprs along(x->shape().size(), c.context().index(1));
    along[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = alpha->shape()[0];
    RELAXC_TRY(alpha, c.reshape(alpha, std::move(along)));
  }
  return c.term(c.op("nn.prelu", {x, alpha}));
}

/// softplus(data, beta, threshold): log(1 + exp(beta * x)) / beta.
Result<Term> softplus(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(double beta, c.real("beta", 1));
  if (beta == 1) return c.term(c.op("nn.softplus", {x}));
  Value* factor = c.build().scalar(x->dtype(), beta);
  RELAXC_TRY(x, c.op("multiply", {x, factor}));
  RELAXC_TRY(x, c.op("nn.softplus", {x}));
  return c.term(c.op("divide", {x, factor}));
}

/// Statistics of batch_norm in training: over all axes but one, and the moving ones after their update by these.
struct Statistics {
  Value *mean, *variance, *moving_mean, *moving_variance;
};

Result<Statistics> batch_statistics(TvmCall& c, Value* x, Value* mean, Value* variance, int64_t axis) {
  RELAXC_TRY(double momentum, c.real("momentum", 0.1));
  auto rank = static_cast<int64_t>(x->shape().size());
  if (axis < 0) axis += rank;
  Ints others;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis) others.push_back(i);
  relax::GraphBuilder& b = c.build();
  Statistics made{};
  RELAXC_TRY(made.mean, c.op("mean", {x}, {{"axis", others}}));
  RELAXC_TRY(made.variance, c.op("variance", {x}, {{"axis", others}}));
  auto moved = [&](Value* old, Value* fresh) -> Result<Value*> {
    RELAXC_TRY(Value * kept, c.op("multiply", {old, b.scalar(old->dtype(), 1 - momentum)}));
    RELAXC_TRY(Value * added, c.op("multiply", {fresh, b.scalar(old->dtype(), momentum)}));
    return c.op("add", {kept, added});
  };
  RELAXC_TRY(made.moving_mean, moved(mean, made.mean));
  RELAXC_TRY(made.moving_variance, moved(variance, made.variance));
  return made;
}

/// batch_norm(data, gamma, beta, moving_mean, moving_var, axis, epsilon, center, scale, momentum, training). TVM's form
/// also returns the statistics; a call means it if it has an argument that relaxc's operator does not have. With
/// training=True, the statistics of the data are used, and the moving ones are updated by them.
Result<Term> batch_norm(TvmCall& c) {
  RELAXC_TRY(bool training, c.flag("training", false));
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * gamma, c.tensor("gamma"));
  RELAXC_TRY(Value * beta, c.tensor("beta"));
  RELAXC_TRY(Value * mean, c.tensor("moving_mean"));
  RELAXC_TRY(Value * variance, c.tensor("moving_var"));
  RELAXC_TRY(int64_t axis, c.integer("axis", 1));
  RELAXC_TRY(double epsilon, c.real("epsilon", 1e-5));
  RELAXC_TRY(bool center, c.flag("center", true));
  RELAXC_TRY(bool scale, c.flag("scale", true));
  relax::GraphBuilder& b = c.build();
  if (!center) {
    RELAXC_TRY(beta, c.op("zeros", {b.shape(beta->shape())}, {{"dtype", beta->dtype()}}));
  }
  if (!scale) {
    RELAXC_TRY(gamma, c.op("ones", {b.shape(gamma->shape())}, {{"dtype", gamma->dtype()}}));
  }
  Value *moved_mean = mean, *moved_variance = variance;
  if (training) {
    RELAXC_TRY(Statistics own, batch_statistics(c, x, mean, variance, axis));
    mean = own.mean, variance = own.variance;
    moved_mean = own.moving_mean, moved_variance = own.moving_variance;
  }
  RELAXC_TRY(x, c.op("nn.batch_norm", {x, gamma, beta, mean, variance}, {{"axis", axis}, {"epsilon", epsilon}}));
  bool whole = c.expects_tuple() || c.has("center") || c.has("scale") || c.has("momentum") || c.has("training");
  if (!whole) return Term::of(x);
  return Term::sequence({Term::of(x), Term::of(moved_mean), Term::of(moved_variance)});
}

/// Gives a scale or shift of a norm over `axes` other than the last ones the rank of x, with its dims along these axes.
Status put_along(TvmCall& c, Value*& scale, const Value* x, const Ints& axes) {
  const auto rank = static_cast<int64_t>(x->shape().size());
  if (scale == nullptr || scale->shape().size() != axes.size()) return Done{};
  std::vector<size_t> places;
  for (int64_t axis : axes) {
    if (axis < -rank || axis >= rank) return Done{};  // the operator reports it
    places.push_back(static_cast<size_t>(axis < 0 ? axis + rank : axis));
  }
  std::sort(places.begin(), places.end());
  if (places.empty() || places.front() + places.size() == x->shape().size()) return Done{};
  Exprs dims(x->shape().size(), c.context().index(1));
  for (size_t i = 0; i < places.size(); ++i) dims[places[i]] = scale->shape()[i];
  RELAXC_TRY(scale, c.reshape(scale, std::move(dims)));
  return Done{};
}

/// layer_norm(data, gamma, beta, axes, epsilon, center, scale), rms_norm(data, weight, axes, epsilon) and relaxc's own
/// with gamma and beta
Result<Term> norm(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Ints axes, c.ints("axes", {-1}));
  RELAXC_TRY(double epsilon, c.real("epsilon", 1e-5));
  RELAXC_TRY(bool center, c.flag("center", true));
  RELAXC_TRY(bool scale, c.flag("scale", true));
  relax::Attrs attrs{{"epsilon", epsilon}};
  if (c.name == "nn.group_norm") {
    RELAXC_TRY(int64_t groups, c.integer("num_groups", 1));
    attrs.set("num_groups", groups);
  }
  bool channels = c.name == "nn.group_norm" || c.name == "nn.instance_norm";
  if (channels) {
    RELAXC_TRY(int64_t axis, c.integer(c.has("axis") ? "axis" : "channel_axis", 1));
    attrs.set("axis", axis);
    size_t others = x->shape().size() - 2;
    if (c.has("axes") && axes.size() != others && axes.size() != others + 1)
      return c.error("axes", Kind::unsupported, "{} normalizes over all spatial axes, found {} of {}", c.spelled,
                     axes.size(), others);
  } else {
    attrs.set("axes", axes);
  }
  std::vector<Value*> operands = {x, nullptr, nullptr};
  if (scale && c.has("gamma")) {
    RELAXC_TRY(operands[1], c.tensor("gamma"));
  }
  if (center && c.has("beta")) {
    RELAXC_TRY(operands[2], c.tensor("beta"));
  }
  for (size_t i = 1; i < operands.size() && !channels; ++i) RELAXC_DO(put_along(c, operands[i], x, axes));
  while (operands.back() == nullptr) operands.pop_back();
  return c.term(c.op(c.own_name(), std::move(operands), std::move(attrs)));
}

/// dropout(data, rate); TVM's form also returns a mask.
Result<Term> dropout(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(double rate, c.real("rate", 0.5));
  RELAXC_TRY(Value * same, c.op("nn.dropout", {x}, {{"rate", rate}}));
  if (!c.expects_tuple()) return Term::of(same);
  RELAXC_TRY(Value * mask, c.op("ones", {c.build().shape(x->shape())}, {{"dtype", x->dtype()}}));
  return Term::sequence({Term::of(same), Term::of(mask)});
}

/// batch_flatten(data)
Result<Term> batch_flatten(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  return c.term(c.op("flatten", {x}, {{"start", int64_t{1}}}));
}

/// Returns scores [batch, heads, queries, keys] with -inf where the key comes after the query.
Result<Value*> causal(TvmCall& c, Value* scores, const std::string& mask) {
  relax::GraphBuilder& b = c.build();
  const Exprs& shape = scores->shape();
  arith::Expr last = mask == "BottomRight" ? shape[3] - shape[2] : c.context().index(0);
  RELAXC_TRY(Value * hidden, c.op("ones", {b.shape({shape[2], shape[3]})}, {{"dtype", scores->dtype()}}));
  RELAXC_TRY(hidden, c.op("trilu", {hidden, b.shape({last + c.context().index(1)})}, {{"upper", true}}));
  RELAXC_TRY(hidden, c.op("astype", {hidden}, {{"dtype", DType::boolean()}}));
  return c.op("where", {hidden, b.scalar(scores->dtype(), -HUGE_VAL), scores});
}

/// attention(query, key, value, bias, scale, causal_mask, window_size) of [batch, sequence, heads, head_dim]
Result<Term> attention(TvmCall& c) {
  RELAXC_TRY(Value * query, c.tensor("query"));
  RELAXC_TRY(Value * key, c.tensor("key"));
  RELAXC_TRY(Value * value, c.tensor("value"));
  RELAXC_TRY(std::string mask, c.text("causal_mask", ""));
  if (query->shape().size() != 4 || key->shape().size() != 4 || value->shape().size() != 4)
    return c.error("query", Kind::rank_mismatch, "{} takes [batch, sequence, heads, head_dim], found {}", c.spelled,
                   relax::to_string(query->info));
  if (c.has("window_size"))
    return c.error("window_size", Kind::unsupported, "{} with a window is not known", c.spelled);
  const int64_t* width = query->shape()[3].constant();
  if (width == nullptr && !c.has("scale"))
    return c.error("scale", Kind::invalid_attribute, "{} needs 'scale' where head_dim is a symbol", c.spelled);
  RELAXC_TRY(double scale, c.real("scale", width == nullptr ? 1 : 1 / std::sqrt(static_cast<double>(*width))));
  RELAXC_TRY(query, c.permute(query, {0, 2, 1, 3}));
  RELAXC_TRY(key, c.permute(key, {0, 2, 3, 1}));
  RELAXC_TRY(value, c.permute(value, {0, 2, 1, 3}));
  RELAXC_TRY(Value * scores, c.op("matmul", {query, key}));
  RELAXC_TRY(scores, c.op("multiply", {scores, c.build().scalar(scores->dtype(), scale)}));
  if (c.has("bias")) {
    RELAXC_TRY(Value * bias, c.tensor("bias"));
    RELAXC_TRY(scores, c.op("add", {scores, bias}));
  }
  if (!mask.empty()) {
    RELAXC_TRY(scores, causal(c, scores, mask));
  }
  RELAXC_TRY(scores, c.op("nn.softmax", {scores}, {{"axis", int64_t{-1}}}));
  RELAXC_TRY(value, c.op("matmul", {scores, value}));
  return c.term(c.permute(value, {0, 2, 1, 3}));
}

constexpr std::string_view kConv =
    "data, weight, strides, padding, dilation, groups, data_layout, kernel_layout, out_layout, out_dtype";
constexpr std::string_view kTransposed =
    "data, weight, strides, padding, output_padding, dilation, groups, data_layout, kernel_layout, out_layout, "
    "out_dtype";
constexpr std::string_view kPool =
    "data, pool_size, strides, padding, dilation, ceil_mode, count_include_pad, layout, out_layout";
constexpr std::string_view kAdaptive = "data, output_size, layout, out_layout";
constexpr std::string_view kAttention = "query, key, value, bias, scale, causal_mask, window_size";

constexpr TvmOperator kNnRows[] = {
    {"nn.conv1d", kConv, conv},
    {"nn.conv2d", kConv, conv},
    {"nn.conv3d", kConv, conv},
    {"nn.conv1d_transpose", kTransposed, conv},
    {"nn.conv2d_transpose", kTransposed, conv},
    {"nn.conv3d_transpose", kTransposed, conv},
    {"nn.max_pool1d", kPool, pool},
    {"nn.max_pool2d", kPool, pool},
    {"nn.max_pool3d", kPool, pool},
    {"nn.avg_pool1d", kPool, pool},
    {"nn.avg_pool2d", kPool, pool},
    {"nn.avg_pool3d", kPool, pool},
    {"nn.adaptive_avg_pool1d", kAdaptive, adaptive_pool},
    {"nn.adaptive_avg_pool2d", kAdaptive, adaptive_pool},
    {"nn.adaptive_avg_pool3d", kAdaptive, adaptive_pool},
    {"nn.pad", "data, pad_width, pad_value, pad_mode", pad, {}, "data, pad_value, pad_width, pad_mode"},
    {"nn.leakyrelu", "data, alpha", leaky_relu},
    {"nn.prelu", "data, alpha, axis", prelu},
    {"nn.softplus", "data, beta, threshold", softplus},
    {"nn.batch_norm", "data, gamma, beta, moving_mean, moving_var, axis, epsilon, center, scale, momentum, training",
     batch_norm},
    {"nn.layer_norm", "data, gamma, beta, axes, epsilon, center, scale", norm},
    {"nn.group_norm", "data, gamma, beta, num_groups, channel_axis, axes, epsilon, center, scale, axis", norm},
    {"nn.instance_norm", "data, gamma, beta, channel_axis, axes, epsilon, center, scale, axis", norm},
    {"nn.dropout", "data, rate", dropout},
    {"nn.batch_flatten", "data", batch_flatten},
    {"nn.attention", kAttention, attention},
    {"nn.attention_bias", kAttention, attention},
};

}  // namespace

std::span<const TvmOperator> tvm_nn_operators() {
  return kNnRows;
}

}  // namespace relaxc::frontend
