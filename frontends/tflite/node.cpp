// node.cpp: activations and results.
#include "frontends/tflite/node.h"

#include <algorithm>
#include <cmath>

#include "frontends/tflite/importer.h"

namespace relaxc::tflite {

Limits Node::activation_limits(Activation activation, const Tensor& tensor) {
  Limits limits = limits_of(dtype_of(tensor));
  if (!ok() || activation == Activation::NONE) return limits;
  float scale = scale_of(tensor);
  int64_t zero = zero_of(tensor);
  auto quantized = [&](float real) {
    double steps = std::round(real / scale);
    return zero + static_cast<int64_t>(std::clamp(steps, -2147483648.0, 2147483647.0));
  };
  std::optional<float> low, high;
  if (activation == Activation::RELU) low = 0.0F;
  if (activation == Activation::RELU6) low = 0.0F, high = 6.0F;
  if (activation == Activation::RELU_N1_TO_1) low = -1.0F, high = 1.0F;
  if (!low) {
    error(Kind::unsupported, "activation {} of integers is not supported", static_cast<int>(activation));
    return limits;
  }
  int64_t least = std::clamp(quantized(*low), limits.low, limits.high);
  int64_t most = high ? std::clamp(quantized(*high), limits.low, limits.high) : limits.high;
  return {least, most};
}

Value* Node::activate(Value* x, Activation activation) {
  switch (activation) {
    case Activation::NONE:
      return x;
    case Activation::RELU:
      return maximum(x, like(x, 0));
    case Activation::RELU6:
      return clamp(x, 0, 6);
    case Activation::RELU_N1_TO_1:
      return clamp(x, -1, 1);
    case Activation::TANH:
      return call("tanh", {x});
    default:
      return refuse("activation {} is not supported", static_cast<int>(activation));
  }
}

Status Node::set(size_t i, Value* value) {
  if (!ok() || value == nullptr) return diag.failed();
  TensorValue& slot = importer.scope().slots[static_cast<size_t>(op.outputs.at(i))];
  if (value->name.empty()) value->name = out(i).name;
  slot.value = value;
  return Done{};
}

}  // namespace relaxc::tflite
