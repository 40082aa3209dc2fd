// conv.cpp: convolutions.
//
// TFLite keeps channels last, and filters as [outputs, window…, inputs of a group], but depthwise ones as [1, window…,
// outputs]. Integers are summed by `nn.conv_integer`, which has the same data layout. Its padding would be 0, but the
// zero point is needed, so the data is padded before. Floats use `nn.conv` between two transposes, which later passes
// cancel between convolutions.
#include "frontends/tflite/operators.h"
#include "frontends/tflite/windows.h"

namespace relaxc::tflite::conv_family {
namespace {

using tflite_schema::Padding;

/// A convolution over two spatial dims.
struct Conv {
  WindowAxis rows, columns;
  Padding padding = Padding::VALID;
  Node::Activation activation{};
  TensorType bias_type = TensorType::FLOAT32;
  bool depthwise = false;
};

struct Pads2 {
  WindowPads rows, columns;
};

Pads2 pads_of(Node& node, const Ints& data, const Conv& conv) {
  return {window_pads(node, data[1], conv.rows, conv.padding), window_pads(node, data[2], conv.columns, conv.padding)};
}

/// Returns whether the window is one element with stride 1 that sums all channels.
bool is_matrix_product(const Conv& conv, int64_t groups) {
  const auto is_one = [](const WindowAxis& axis) { return axis.extent == 1 && axis.stride == 1; };
  return is_one(conv.rows) && is_one(conv.columns) && groups == 1 && !conv.depthwise;
}

Value* matrix_product(Node& node, Value* x, Value* filter) {
  if (!node.ok()) return nullptr;
  const Ints shape = node.dims(filter);
  Value* columns = node.permute(node.reshape(filter, {shape[0], shape[3]}), {1, 0});
  return node.call("matmul", {x, columns}, {{"out_dtype", std::string("int32")}});
}

Value* window_sums(Node& node, const Conv& conv, Value* x, Value* filter, int64_t groups, DType sums) {
  if (conv.depthwise) {
    Ints shape = node.dims(filter);
    filter = node.reshape(filter, {shape[1], shape[2], 1, shape[3]});
  } else {
    filter = node.permute(filter, {1, 2, 3, 0});
  }
  return node.call("nn.conv_integer", {x, filter},
                   {{"strides", Ints{conv.rows.stride, conv.columns.stride}},
                    {"dilation", Ints{conv.rows.dilation, conv.columns.dilation}},
                    {"groups", groups},
                    {"out_dtype", sums}});
}

Status quantized_conv(Node& node, const Conv& conv, Value* x, Value* filter, const Pads2& pads, int64_t groups) {
  ProductSum product;
  product.outputs_last = conv.depthwise;
  bool per_tensor = node.type() == TensorType::UINT8;  // the older uint8 kernels have one scale and zero point
  product.in_float = per_tensor;
  product.filter_zero = per_tensor ? node.zero_of(node.in(1)) : 0;
  DType sums = sums_dtype(node.type(), conv.bias_type);
  std::vector<Multiplier> multipliers = product_multipliers(node, product);
  int64_t zero = node.zero_of(node.in(0));
  x = node.pad(x, {0, pads.rows.begin, pads.columns.begin, 0, 0, pads.rows.end, pads.columns.end, 0},
               node.like(x, static_cast<double>(zero)));
  Value* sum = is_matrix_product(conv, groups) && node.type() == TensorType::INT8
                   ? matrix_product(node, x, filter)
                   : window_sums(node, conv, x, centered(node, filter, product.filter_zero), groups, sums);
  Value* bias = folded_bias(node, product, 2, sums);
  if (!node.ok()) return node.status();
  if (bias != nullptr) sum = node.add(sum, bias);
  return node.set(node.scale(sum, multipliers, stored_output(node, node.stored_type(), conv.activation, sums)));
}

Status float_conv(Node& node, const Conv& conv, Value* x, const Pads2& pads, int64_t groups) {
  Value* filter = float_weights(node, 1);
  if (!node.ok()) return node.status();
  Ints shape = node.dims(filter);
  if (conv.depthwise)
    filter = node.permute(node.reshape(filter, {shape[1], shape[2], 1, shape[3]}), {3, 2, 0, 1});
  else
    filter = node.permute(filter, {0, 3, 1, 2});
  Value* y = node.call("nn.conv", {node.channels_first(x), filter},
                       {{"strides", Ints{conv.rows.stride, conv.columns.stride}},
                        {"padding", Ints{pads.rows.begin, pads.columns.begin, pads.rows.end, pads.columns.end}},
                        {"dilation", Ints{conv.rows.dilation, conv.columns.dilation}},
                        {"groups", groups}});
  y = node.channels_last(y);
  if (node.has(2)) y = node.add(y, node.input(2));
  return node.set(node.activate(y, conv.activation));
}

Status convolve(Node& node, Conv conv) {
  Value *x = node.input(0), *filter = node.input(1);
  if (!node.expect_rank(x, 4, "the data") || !node.expect_rank(filter, 4, "the filter")) return node.status();
  Ints data = node.dims(x), window = node.dims(filter);
  if (!node.ok()) return node.status();
  conv.rows.extent = window[1];
  conv.columns.extent = window[2];
  int64_t channels = data[3], inputs = conv.depthwise ? 1 : window[3], outputs = conv.depthwise ? window[3] : window[0];
  if (inputs < 1 || channels < 1 || outputs < 1 || channels % inputs != 0 || outputs % (channels / inputs) != 0 ||
      (conv.depthwise && window[0] != 1))
    return node.error(Kind::shape_mismatch, "a filter of [{}] for {} channels", fmt::join(window, ", "), channels);
  Pads2 pads = pads_of(node, data, conv);
  if (!node.ok()) return node.status();
  int64_t groups = channels / inputs;
  if (node.type() == TensorType::FLOAT32) return float_conv(node, conv, x, pads, groups);
  TensorType type = node.in(1).type;
  bool fits = node.type() == TensorType::UINT8 ? type == TensorType::UINT8
                                               : type == TensorType::INT8 || type == TensorType::INT4;
  if (!fits)
    return node.error(Kind::dtype_mismatch, "data of {} by a filter of {} is not supported", type_name(node.type()),
                      type_name(type));
  return quantized_conv(node, conv, x, filter, pads, groups);
}

Status conv_2d(Node& node) {
  const auto& o = node.options<tflite_schema::Conv2DOptions>();
  Conv conv;
  conv.rows = {1, o.stride_h(), o.dilation_h_factor()};
  conv.columns = {1, o.stride_w(), o.dilation_w_factor()};
  conv.padding = o.padding();
  conv.activation = o.fused_activation_function();
  conv.bias_type = o.quantized_bias_type();
  return convolve(node, conv);
}

Status depthwise_conv_2d(Node& node) {
  const auto& o = node.options<tflite_schema::DepthwiseConv2DOptions>();
  Conv conv;
  conv.rows = {1, o.stride_h(), o.dilation_h_factor()};
  conv.columns = {1, o.stride_w(), o.dilation_w_factor()};
  conv.padding = o.padding();
  conv.activation = o.fused_activation_function();
  conv.depthwise = true;
  return convolve(node, conv);
}

constexpr std::string_view kRounding = "double; int16: reduced, once (double with a bias of int32)";

constexpr Row kRows[] = {
    {.code = BuiltinOperator::CONV_2D,
     .convert = conv_2d,
     .min_inputs = 2,
     .max_inputs = 3,
     .types = kF32 | kQuantized,
     .rounding = kRounding,
     .note = "8-bit filters of float data are dequantized"},
    {.code = BuiltinOperator::DEPTHWISE_CONV_2D,
     .convert = depthwise_conv_2d,
     .min_inputs = 2,
     .max_inputs = 3,
     .types = kF32 | kQuantized,
     .rounding = kRounding,
     .note = "8-bit filters of float data are dequantized"},
};

}  // namespace
}  // namespace relaxc::tflite::conv_family

RELAXC_TFLITE_OPERATORS(conv, kRows)
