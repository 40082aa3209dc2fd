// nn.cpp: matrix products, convolutions, pools, softmax and normalization.
//
// Windows: auto_pad becomes explicit padding here. SAME depends on the dim, so a symbolic dim with a stride other than
// 1 pads by an operator of its own instead of by the constant attribute of the convolution.
#include <numeric>

#include "frontends/onnx/convolution.h"
#include "frontends/onnx/fold.h"

namespace relaxc::frontend {
namespace {

using Ints = std::vector<int64_t>;

Status matmul(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * a, node.input(0));
  RELAXC_TRY(Value * b, node.input(1));
  return node.set(0, node.call("matmul", {a, b}));
}

/// alpha * A' * B' + beta * C.
Status gemm(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * a, node.input(0));
  RELAXC_TRY(Value * b, node.input(1));
  RELAXC_TRY(Value * c, node.optional_input(2));
  for (Value* matrix : {a, b})
    if (matrix->shape().size() != 2)
      return node.error(Kind::rank_mismatch, "its operands must be matrices, found {}", relax::to_string(matrix->info));
  if (node.int_attr("transA", 0) != 0) {
    RELAXC_TRY(a, node.call("permute_dims", {a}, {{"axes", Ints{1, 0}}}));
  }
  if (node.int_attr("transB", 0) != 0) {
    RELAXC_TRY(b, node.call("permute_dims", {b}, {{"axes", Ints{1, 0}}}));
  }
  double alpha = node.float_attr("alpha", 1), beta = node.float_attr("beta", 1);
  RELAXC_TRY(Value * y, node.call("matmul", {a, b}));
  if (alpha != 1) {
    RELAXC_TRY(y, node.call("multiply", {y, node.scalar(y->dtype(), alpha)}));
  }
  if (c == nullptr || beta == 0) return node.set(0, y);
  if (beta != 1) {
    RELAXC_TRY(c, node.call("multiply", {c, node.scalar(c->dtype(), beta)}));
  }
  // Before opset 7 C broadcast only if asked to, which it had to be: shapes that agree broadcast in any case.
  return node.set(0, node.call("add", {y, c}));
}

/// The geometry of a window node: one number a spatial dim.
struct Window {
  Ints kernel, strides, dilations, pad_begin, pad_end;
  Value* x = nullptr;  ///< the operand, padded already where padding is symbolic
  bool ceil = false;

  Attrs attrs() const {
    Ints padding = pad_begin;
    padding.insert(padding.end(), pad_end.begin(), pad_end.end());
    return {{"strides", strides}, {"padding", padding}, {"dilation", dilations}};
  }
};

Result<Ints> spatial_list(Node& node, const char* name, size_t spatial, int64_t fallback) {
  Ints list = node.ints_attr(name, Ints(spatial, fallback));
  if (list.size() != spatial)
    return node.error(Kind::invalid_attribute, "{} has {} numbers for {} spatial dims", name, list.size(), spatial);
  return list;
}

/// SAME padding of a dim: total = max(0, (ceil(dim / stride) - 1) * stride + reach - dim), the odd one at the end
/// (SAME_UPPER) or the beginning.
Status same_padding(Node& node, Window& w, bool lower) {
  Diagnostics& diag = node.diag;
  std::vector<Expr> begin, end;
  bool symbolic = false;
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    Expr dim = w.x->shape()[i + 2];
    int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
    Expr total = w.strides[i] == 1
                     ? node.index(reach - 1)
                     : arith::max(node.index(0), (arith::ceildiv(dim, w.strides[i]) - 1) * w.strides[i] + reach - dim);
    total = node.simplify(total);
    Expr small = node.simplify(arith::floordiv(total, 2)), large = node.simplify(total - small);
    begin.push_back(lower ? large : small);
    end.push_back(lower ? small : large);
    symbolic = symbolic || total.constant() == nullptr;
  }
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    w.pad_begin[i] = symbolic ? 0 : *begin[i].constant();
    w.pad_end[i] = symbolic ? 0 : *end[i].constant();
  }
  if (!symbolic) return Done{};
  std::vector<Expr> pads(2, node.index(0));
  pads.insert(pads.end(), begin.begin(), begin.end());
  pads.insert(pads.end(), 2, node.index(0));
  pads.insert(pads.end(), end.begin(), end.end());
  RELAXC_TRY(w.x, node.call("pad", {w.x, node.shape(std::move(pads))}));
  return Done{};
}

Result<Window> window(Node& node, Value* x, Ints kernel, bool may_pad_by_zero = true) {
  Diagnostics& diag = node.diag;
  Window w;
  w.x = x;
  size_t rank = w.x->shape().size(), spatial = kernel.size();
  if (rank < 3 || spatial != rank - 2)
    return node.error(Kind::rank_mismatch, "a window of {} dims does not fit an input of {} dims (batch, channel, …)",
                      spatial, rank);
  w.kernel = std::move(kernel);
  RELAXC_TRY(w.strides, spatial_list(node, "strides", spatial, 1));
  RELAXC_TRY(w.dilations, spatial_list(node, "dilations", spatial, 1));
  for (size_t i = 0; i < spatial; ++i)
    if (w.kernel[i] < 1 || w.strides[i] < 1 || w.dilations[i] < 1 || w.kernel[i] > INT32_MAX ||
        w.strides[i] > INT32_MAX || w.dilations[i] > INT32_MAX)
      return node.error(Kind::invalid_attribute, "kernel, strides and dilations must be positive 32-bit numbers");
  w.pad_begin.assign(spatial, 0);
  w.pad_end.assign(spatial, 0);
  w.ceil = node.int_attr("ceil_mode", 0) != 0;
  std::string mode = node.string_attr("auto_pad", "NOTSET");
  if (mode == "NOTSET") {
    Ints pads = node.ints_attr("pads", Ints(2 * spatial, 0));
    if (pads.size() != 2 * spatial)
      return node.error(Kind::invalid_attribute, "pads has {} numbers for {} spatial dims", pads.size(), spatial);
    w.pad_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(spatial));
    w.pad_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(spatial), pads.end());
  } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    size_t errors = diag.error_count();
    Value* before = w.x;
    RELAXC_DO(same_padding(node, w, mode == "SAME_LOWER"));
    if (w.x != before && !may_pad_by_zero && diag.error_count() == errors)
      return node.error(Kind::unsupported, "{} with a symbolic dim and a stride is not supported; fix it with --dim",
                        mode);
  } else if (mode != "VALID") {
    return node.error(Kind::invalid_attribute, "auto_pad '{}' is none of NOTSET, SAME_UPPER, SAME_LOWER, VALID", mode);
  }
  return w;
}

/// The spatial dims of a weight, which must be numbers.
Result<Ints> kernel_of(Node& node, Value* weight) {
  Ints kernel;
  for (size_t i = 2; i < weight->shape().size(); ++i) {
    if (weight->shape()[i].constant() == nullptr)
      return node.error(Kind::unsupported, "the weight must have constant spatial dims, found {}",
                        relax::to_string(weight->info));
    kernel.push_back(*weight->shape()[i].constant());
  }
  if (node.has_attr("kernel_shape") && node.ints_attr("kernel_shape") != kernel)
    return node.error(Kind::shape_mismatch, "kernel_shape is not that of the weight, {}",
                      relax::to_string(weight->info));
  return kernel;
}

Result<Value*> add_bias(Node& node, Value* y, size_t input) {
  Diagnostics& diag = node.diag;
  if (!node.has(input)) return y;
  RELAXC_TRY(Value * bias, node.input(input));
  if (bias->shape().size() != 1)
    return node.error(Kind::rank_mismatch, "the bias must be a list, found {}", relax::to_string(bias->info));
  std::vector<Expr> dims(y->shape().size() - 1, node.index(1));
  dims[0] = bias->shape()[0];
  RELAXC_TRY(bias, reshape(node, bias, std::move(dims)));
  return node.call("add", {y, bias});
}

Status conv(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * weight, node.input(1));
  RELAXC_TRY(Value * y, convolution(node, x, weight));
  return node.set(0, add_bias(node, y, 2));
}

/// output_shape, where given, decides the padding; so does auto_pad, which asks for dim * stride.
Status transposed_padding(Node& node, Window& w, const Ints& extra) {
  std::string mode = node.string_attr("auto_pad", "NOTSET");
  Ints wanted = node.ints_attr("output_shape");
  size_t spatial = w.kernel.size();
  if (wanted.size() > spatial) wanted.erase(wanted.begin(), wanted.end() - static_cast<std::ptrdiff_t>(spatial));
  bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (wanted.empty() && !same) return Done{};
  if (!wanted.empty() && wanted.size() != spatial)
    return node.error(Kind::invalid_attribute, "output_shape has {} numbers for {} spatial dims", wanted.size(),
                      spatial);
  for (size_t i = 0; i < spatial; ++i) {
    Expr dim = w.x->shape()[i + 2];
    int64_t reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
    Expr target = wanted.empty() ? dim * w.strides[i] : node.index(wanted[i]);
    Expr total = node.simplify((dim - 1) * w.strides[i] + extra[i] + reach - target);
    if (total.constant() == nullptr)
      return node.error(Kind::unsupported, "its padding depends on a symbolic dim; fix it with --dim");
    int64_t pads = wanted.empty() ? std::max<int64_t>(0, *total.constant()) : *total.constant();
    // The odd one goes to the end with SAME_UPPER, to the beginning otherwise.
    int64_t small = pads >= 0 ? pads / 2 : -((-pads + 1) / 2);
    w.pad_begin[i] = mode == "SAME_UPPER" ? small : pads - small;
    w.pad_end[i] = pads - w.pad_begin[i];
  }
  return Done{};
}

Status conv_transpose(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * weight, node.input(1));
  RELAXC_TRY(Ints kernel, kernel_of(node, weight));
  size_t spatial = kernel.size();
  std::string mode = node.string_attr("auto_pad", "NOTSET");
  Window w;
  RELAXC_TRY(w.x, node.input(0));
  if (w.x->shape().size() != spatial + 2 || spatial == 0)
    return node.error(Kind::rank_mismatch, "input and weight must have the same 3 or more dims");
  w.kernel = std::move(kernel);
  RELAXC_TRY(w.strides, spatial_list(node, "strides", spatial, 1));
  RELAXC_TRY(w.dilations, spatial_list(node, "dilations", spatial, 1));
  RELAXC_TRY(Ints extra, spatial_list(node, "output_padding", spatial, 0));
  Ints pads = node.ints_attr("pads", Ints(2 * spatial, 0));
  if (pads.size() != 2 * spatial)
    return node.error(Kind::invalid_attribute, "pads has {} numbers for {} spatial dims", pads.size(), spatial);
  w.pad_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(spatial));
  w.pad_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(spatial), pads.end());
  RELAXC_DO(transposed_padding(node, w, extra));
  // A negative pad at the end is more output.
  for (size_t i = 0; i < spatial; ++i)
    if (w.pad_end[i] < 0) {
      extra[i] -= w.pad_end[i];
      w.pad_end[i] = 0;
    }
  Attrs attrs = w.attrs();
  attrs.set("groups", node.int_attr("group", 1));
  attrs.set("output_padding", extra);
  RELAXC_TRY(Value * y, node.call("nn.conv_transpose", {w.x, weight}, std::move(attrs)));
  return node.set(0, add_bias(node, y, 2));
}

Result<Window> pool_window(Node& node, bool may_pad_by_zero) {
  Diagnostics& diag = node.diag;
  if (!node.has_attr("kernel_shape")) return node.error(Kind::invalid_attribute, "kernel_shape is missing");
  RELAXC_TRY(Value * x, node.input(0));
  return window(node, x, node.ints_attr("kernel_shape"), may_pad_by_zero);
}

Status max_pool(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Window w, pool_window(node, false));
  Attrs attrs = w.attrs();
  attrs.set("pool_size", w.kernel);
  attrs.set("ceil_mode", w.ceil);
  attrs.set("indices", node.wants(1));
  attrs.set("storage_order", node.int_attr("storage_order", 0));
  RELAXC_TRY(std::vector<Value*> results, node.call_many("nn.max_pool", {w.x}, std::move(attrs)));
  for (size_t i = 0; i < results.size(); ++i) RELAXC_DO(node.set(i, results[i]));
  return Done{};
}

Status average_pool(Node& node) {
  Diagnostics& diag = node.diag;
  bool include = node.int_attr("count_include_pad", 0) != 0;
  RELAXC_TRY(Window w, pool_window(node, include));
  Attrs attrs = w.attrs();
  attrs.set("pool_size", w.kernel);
  attrs.set("ceil_mode", w.ceil);
  attrs.set("count_include_pad", include);
  return node.set(0, node.call("nn.avg_pool", {w.x}, std::move(attrs)));
}

Status lp_pool(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Window w, pool_window(node, true));
  Attrs attrs = w.attrs();
  attrs.set("pool_size", w.kernel);
  attrs.set("ceil_mode", w.ceil);
  attrs.set("p", node.int_attr("p", 2));
  return node.set(0, node.call("nn.lp_pool", {w.x}, std::move(attrs)));
}

/// Global pools are reductions over the spatial dims.
template <const char* Name>
Status global_pool(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  if (x->shape().size() < 3)
    return node.error(Kind::rank_mismatch, "the input must have 3 dims or more, found {}", relax::to_string(x->info));
  Ints axes(x->shape().size() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  return node.set(0, node.call(Name, {x}, {{"axis", axes}, {"keepdims", true}}));
}
constexpr char kMean[] = "mean", kMax[] = "max";

/// Before opset 13 the input was seen as a matrix [dims before axis, dims from axis on], normalized by row.
template <const char* Name>
Status softmax(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  int64_t rank = static_cast<int64_t>(x->shape().size());
  RELAXC_TRY(int64_t axis, normal_axis(node, node.int_attr("axis", node.opset < 13 ? 1 : -1), rank));
  if (node.opset >= 13 || axis == rank - 1) return node.set(0, node.call(Name, {x}, {{"axis", axis}}));
  std::vector<Expr> dims = x->shape(), rows(dims.begin(), dims.begin() + axis);
  Expr columns = node.index(1);
  for (size_t i = static_cast<size_t>(axis); i < dims.size(); ++i) columns = columns * dims[i];
  rows.push_back(node.simplify(columns));
  RELAXC_TRY(Value * matrix, reshape(node, x, std::move(rows)));
  RELAXC_TRY(Value * y, node.call(Name, {matrix}, {{"axis", axis}}));
  return node.set(0, reshape(node, y, std::move(dims)));
}
constexpr char kSoftmax[] = "nn.softmax", kLogSoftmax[] = "nn.log_softmax", kHardmax[] = "nn.hardmax";

Attrs epsilon(Node& node) {
  return {{"epsilon", node.float_attr("epsilon", 1e-5)}};
}

/// Float16 data may come with float32 statistics.
Status batch_norm(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(std::vector<Value*> operands, node.all_inputs());
  if (operands.size() != 5) return node.error(Kind::wrong_arity, "it takes 5 inputs, found {}", operands.size());
  if (node.opset >= 14 && node.int_attr("training_mode", 0) != 0)
    return node.error(Kind::unsupported, "training_mode must be 0");
  if (node.opset < 9 && node.int_attr("spatial", 1) == 0) return node.error(Kind::unsupported, "spatial must be 1");
  return node.set(0, node.call("nn.batch_norm", operands, epsilon(node)));
}

Result<Ints> axes_from(Node& node, Value* x) {
  Diagnostics& diag = node.diag;
  int64_t rank = static_cast<int64_t>(x->shape().size());
  RELAXC_TRY(int64_t axis, normal_axis(node, node.int_attr("axis", -1), rank));
  Ints axes(static_cast<size_t>(rank - axis));
  std::iota(axes.begin(), axes.end(), axis);
  return axes;
}

/// The second and third output: the mean, and 1 / sqrt(variance + epsilon), with the axes as dims of 1.
Status moments(Node& node, Value* x, const Ints& axes) {
  Diagnostics& diag = node.diag;
  Attrs over{{"axis", axes}, {"keepdims", true}};
  RELAXC_TRY(x, astype(node, x, x->dtype().bits < 32 ? DType::f(32) : x->dtype()));
  RELAXC_TRY(Value * mean, node.call("mean", {x}, over));
  RELAXC_TRY(Value * centered, node.call("subtract", {x, mean}));
  RELAXC_TRY(Value * squares, node.call("square", {centered}));
  RELAXC_TRY(Value * variance, node.call("mean", {squares}, over));
  RELAXC_TRY(Value * shifted, node.call("add", {variance, node.scalar(x->dtype(), node.float_attr("epsilon", 1e-5))}));
  RELAXC_TRY(Value * deviation, node.call("sqrt", {shifted}));
  RELAXC_DO(node.set(1, mean));
  return node.set(2, node.call("divide", {node.scalar(x->dtype(), 1), deviation}));
}

Status layer_norm(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * scale, node.input(1));
  RELAXC_TRY(Value * bias, node.optional_input(2));
  RELAXC_TRY(Ints axes, axes_from(node, x));
  Attrs attrs = epsilon(node);
  attrs.set("axes", axes);
  RELAXC_DO(node.set(0, node.call("nn.layer_norm", {x, scale, bias}, std::move(attrs))));
  if (!node.wants(1) && !node.wants(2)) return Done{};
  return moments(node, x, axes);
}

Status rms_norm(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * scale, node.input(1));
  Attrs attrs = epsilon(node);
  RELAXC_TRY(Ints axes, axes_from(node, x));
  attrs.set("axes", std::move(axes));
  return node.set(0, node.call("nn.rms_norm", {x, scale}, std::move(attrs)));
}

Status instance_norm(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(std::vector<Value*> operands, node.all_inputs());
  if (operands.size() != 3) return node.error(Kind::wrong_arity, "it takes 3 inputs, found {}", operands.size());
  return node.set(0, node.call("nn.instance_norm", operands, epsilon(node)));
}

/// Scale and bias are given by group before opset 21, by channel since.
Status group_norm(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(std::vector<Value*> operands, node.all_inputs());
  if (operands.size() != 3) return node.error(Kind::wrong_arity, "it takes 3 inputs, found {}", operands.size());
  int64_t groups = node.int_attr("num_groups", 0);
  const int64_t* channels = operands[0]->shape().size() < 2 ? nullptr : operands[0]->shape()[1].constant();
  if (channels == nullptr || groups < 1 || *channels % groups != 0)
    return node.error(Kind::invalid_attribute, "num_groups {} must divide a constant number of channels", groups);
  if (node.opset < 21 && *channels != groups)
    for (size_t i = 1; i < 3; ++i) {
      RELAXC_TRY(operands[i],
                 node.call("repeat", {operands[i]}, {{"repeats", *channels / groups}, {"axis", int64_t{0}}}));
    }
  Attrs attrs = epsilon(node);
  attrs.set("num_groups", groups);
  return node.set(0, node.call("nn.group_norm", operands, std::move(attrs)));
}

/// Local response normalization over channels.
Status lrn(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  return node.set(0, node.call("nn.lrn", {x},
                               {{"size", node.int_attr("size", 1)},
                                {"alpha", node.float_attr("alpha", 1e-4)},
                                {"beta", node.float_attr("beta", 0.75)},
                                {"bias", node.float_attr("bias", 1)}}));
}

Status einsum(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(std::vector<Value*> operands, node.all_inputs());
  return node.set(0, node.call("einsum", operands, {{"equation", node.string_attr("equation", "")}}));
}

constexpr Converter kRows[] = {
    {.name = "MatMul", .convert = matmul},
    {.name = "Gemm", .convert = gemm},
    {.name = "Einsum", .convert = einsum},
    {.name = "Conv", .convert = conv},
    {.name = "ConvTranspose", .convert = conv_transpose, .note = "padding must not depend on a symbolic dim"},
    {.name = "MaxPool", .convert = max_pool, .note = "SAME padding of a symbolic dim needs stride 1"},
    {.name = "AveragePool", .convert = average_pool, .note = "SAME padding of a symbolic dim needs stride 1"},
    {.name = "LpPool", .convert = lp_pool},
    {.name = "GlobalAveragePool", .convert = global_pool<kMean>},
    {.name = "GlobalMaxPool", .convert = global_pool<kMax>},
    {.name = "Softmax", .convert = softmax<kSoftmax>},
    {.name = "LogSoftmax", .convert = softmax<kLogSoftmax>},
    {.name = "Hardmax", .convert = softmax<kHardmax>},
    {.name = "BatchNormalization", .convert = batch_norm, .note = "inference only"},
    {.name = "LayerNormalization", .convert = layer_norm},
    {.name = "InstanceNormalization", .convert = instance_norm},
    {.name = "GroupNormalization", .convert = group_norm},
    {.name = "RMSNormalization", .convert = rms_norm},
    {.name = "LRN", .convert = lrn},
};

}  // namespace

Result<Value*> convolution(Node& node, Value* x, Value* weight) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Ints kernel, kernel_of(node, weight));
  RELAXC_TRY(Window w, window(node, x, std::move(kernel)));
  Attrs attrs = w.attrs();
  attrs.set("groups", node.int_attr("group", 1));
  return node.call("nn.conv", {w.x, weight}, std::move(attrs));
}

}  // namespace relaxc::frontend

RELAXC_CONVERTERS(nn, kRows)
