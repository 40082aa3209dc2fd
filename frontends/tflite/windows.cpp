// windows.cpp: see windows.h.
//
// With zero points, sum((x - zx) * w) = sum(x * w) - zx * sum(w). The second term is a constant for each output and is
// added to the bias. int32 sums wrap around equally in both forms.
#include "frontends/tflite/windows.h"

#include <algorithm>

namespace relaxc::tflite {
namespace {

/// Sums the filter's elements less its zero point, for each output, from the constant's bytes.
Ints filter_sums(const relax::ConstantData& data, const ProductSum& product, int64_t outputs) {
  Ints sums(static_cast<size_t>(outputs), 0);
  data.with_bytes([&](std::span<const std::byte> bytes) {
    auto width = static_cast<size_t>(data.dtype().bytes());
    size_t count = bytes.size() / width, each = count / sums.size();
    for (size_t i = 0; i < count; ++i)
      sums[product.outputs_last ? i % sums.size() : i / each] +=
          relax::decode_integer(data.dtype(), bytes.data() + i * width) - product.filter_zero;
  });
  return sums;
}

int64_t outputs_of(const Tensor& filter, const ProductSum& product) {
  return product.outputs_last ? filter.shape.back() : filter.shape.front();
}

/// Returns -zx * sum(w) for each output; null if zx is 0 or there are no outputs.
Value* correction(Node& node, const ProductSum& product, DType dtype) {
  int64_t zero = node.zero_of(node.in(product.data)), outputs = outputs_of(node.in(product.filter), product);
  if (zero == 0 || outputs == 0) return nullptr;
  if (relax::ConstantRef data = node.constant(product.filter)) {
    Ints sums = filter_sums(*data, product, outputs);
    for (int64_t& sum : sums) sum = static_cast<int32_t>(static_cast<uint32_t>(-zero * sum));
    return node.list(dtype, sums);
  }
  Value* filter = node.as(centered(node, node.input(product.filter), product.filter_zero), dtype);
  Ints axes;
  for (int64_t k = 0; k + 1 < node.rank(filter); ++k) axes.push_back(product.outputs_last ? k : k + 1);
  Value* sums = node.reduce("sum", filter, axes, false);
  return node.multiply(sums, static_cast<double>(-zero));
}

}  // namespace

WindowPads window_pads(Node& node, int64_t size, const WindowAxis& axis, tflite_schema::Padding padding) {
  if (axis.extent < 1 || axis.stride < 1 || axis.dilation < 1) {
    node.error(Kind::invalid_attribute, "a window of {} with stride {} and dilation {}", axis.extent, axis.stride,
               axis.dilation);
    return {};
  }
  if (padding != tflite_schema::Padding::SAME && padding != tflite_schema::Padding::VALID)
    node.error(Kind::invalid_attribute, "padding {} is neither SAME nor VALID", static_cast<int>(padding));
  if (axis.extent > INT32_MAX || axis.stride > INT32_MAX || axis.dilation > INT32_MAX) return {};
  WindowPads pads;
  if (padding == tflite_schema::Padding::SAME) {
    pads.results = (size + axis.stride - 1) / axis.stride;
    int64_t total = std::max<int64_t>(0, (pads.results - 1) * axis.stride + axis.span() - size);
    pads.begin = total / 2;
    pads.end = total - pads.begin;
  } else {
    pads.results = (size - axis.span() + axis.stride) / axis.stride;
  }
  if (pads.results < 1 || size < 1)
    node.error(Kind::invalid_value, "a window of {} does not fit into {}", axis.span(), size);
  return pads;
}

Value* centered(Node& node, Value* filter, int64_t zero) {
  if (zero == 0) return filter;
  return node.add(node.as(filter, DType::i(16)), static_cast<double>(-zero));
}

Value* folded_bias(Node& node, const ProductSum& product, int bias, DType dtype) {
  Value* added = correction(node, product, dtype);
  if (bias < 0 || !node.has(static_cast<size_t>(bias))) return added;
  auto at = static_cast<size_t>(bias);
  const Tensor& tensor = node.in(at);
  if (tensor.type != TensorType::INT32 && tensor.type != TensorType::INT64)
    return node.refuse("a bias of {} is not supported; int32 and int64 are", type_name(tensor.type));
  int64_t outputs = outputs_of(node.in(product.filter), product);
  if (tensor.shape != Ints{outputs} && !(tensor.shape.empty() && outputs == 1))
    return node.refuse("a bias of [{}] for {} outputs", fmt::join(tensor.shape, ", "), outputs);
  std::optional<Ints> known = node.known_ints(at);
  relax::ConstantRef data = node.constant(product.filter);
  int64_t zero = node.zero_of(node.in(product.data));
  if (!known || (zero != 0 && data == nullptr)) {
    Value* value = node.as(node.input(at), dtype);
    return added == nullptr ? value : node.add(value, added);
  }
  Ints sums = zero == 0 || outputs == 0 ? Ints(known->size(), 0) : filter_sums(*data, product, outputs);
  for (size_t i = 0; i < sums.size(); ++i) {
    sums[i] = (*known)[i] - zero * sums[i];
    if (dtype == DType::i(32)) sums[i] = static_cast<int32_t>(static_cast<uint32_t>(sums[i]));
  }
  return node.list(dtype, sums);
}

Value* float_weights(Node& node, size_t at) {
  Value* filter = node.input(at);
  const Tensor& tensor = node.in(at);
  if (filter == nullptr || tensor.type == TensorType::FLOAT32) return filter;
  if (tensor.type == TensorType::FLOAT16) return node.f32(filter);
  if (tensor.type != TensorType::INT8 && tensor.type != TensorType::INT4 && tensor.type != TensorType::UINT8)
    return node.refuse("float data by a filter of {} is not supported", type_name(tensor.type));
  const Quantization& quant = tensor.quantization;
  if (quant.scale.empty()) return node.refuse("'{}' has no scale", tensor.name);
  bool one = quant.scale.size() == 1;
  Value* scale = one ? node.number(DType::f(32), quant.scale[0]) : node.reals(quant.scale);
  Value* zero = one ? node.number(filter->dtype(), static_cast<double>(quant.zero_point[0]))
                    : node.list(filter->dtype(), quant.zero_point);
  return node.call("dequantize", {filter, scale, zero}, {{"axis", one ? int64_t{-1} : int64_t{quant.axis}}});
}

std::vector<double> product_scales(Node& node, const ProductSum& product) {
  float in = node.scale_of(node.in(product.data)), out = node.scale_of(node.out());
  const std::vector<float>& filter = node.in(product.filter).quantization.scale;
  std::vector<double> all;
  for (float scale : filter) {
    double both = product.in_float ? static_cast<double>(in * scale) : static_cast<double>(in) * scale;
    double real = both / static_cast<double>(out);
    if (!(real < 1e9)) {
      node.error(Kind::invalid_value, "scales {} and {} of operands and {} of the result", in, scale, out);
      return {0};
    }
    all.push_back(real);
  }
  if (all.empty()) {
    node.error(Kind::unsupported, "'{}' has no scale", node.in(product.filter).name);
    all.push_back(0);
  }
  return all;
}

std::vector<Multiplier> product_multipliers(Node& node, const ProductSum& product) {
  std::vector<Multiplier> all;
  for (double real : product_scales(node, product)) all.push_back(multiplier_of(real));
  return all;
}

Stored stored_output(Node& node, DType dtype, Node::Activation activation, DType sums) {
  Stored stored;
  stored.dtype = dtype;
  stored.zero_point = node.zero_of(node.out());
  stored.limits = node.activation_limits(activation, node.out());
  stored.reduced = sums == DType::i(64);
  return stored;
}

DType sums_dtype(TensorType data, TensorType bias_type) {
  if (data != TensorType::INT16) return DType::i(32);
  return DType::i(bias_type == TensorType::INT32 ? 32 : 64);
}

}  // namespace relaxc::tflite
