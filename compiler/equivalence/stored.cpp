// stored.cpp: quantizes and dequantizes as the operators quantize and dequantize define it, in float32.
#include "compiler/equivalence/stored.h"

#include <algorithm>
#include <cmath>

namespace relaxc::equivalence {
namespace {

using interface::Quantization;

/// Returns the index of the scale that applies to element `i` of the tensor.
size_t place(const Quantization& q, const HostTensor& tensor, size_t i) {
  if (q.axis < 0) return 0;
  size_t inner = 1;
  for (size_t axis = static_cast<size_t>(q.axis) + 1; axis < tensor.shape.size(); ++axis)
    inner *= static_cast<size_t>(tensor.shape[axis]);
  return i / inner % q.scale.size();
}

HostTensor converted(const Quantization& q, const HostTensor& tensor, DType to,
                     const std::function<double(double value, float scale, float zero)>& convert) {
  HostTensor out{to, tensor.shape, {}};
  auto size = static_cast<size_t>(tensor.dtype.bytes());
  for (size_t i = 0; i * size < tensor.bytes.size(); ++i) {
    size_t k = place(q, tensor, i);
    double value = relax::decode_scalar(tensor.dtype, tensor.bytes.data() + i * size);
    std::vector<std::byte> bytes =
        relax::encode_scalar(to, convert(value, q.scale[k], static_cast<float>(q.zero_point[k])));
    out.bytes.insert(out.bytes.end(), bytes.begin(), bytes.end());
  }
  return out;
}

}  // namespace

StoredInterface stored_interface(const relax::Module& module, const interface::Object& object,
                                 const std::string& name) {
  StoredInterface out;
  if (const relax::Function* function = module.find_function(name)) {
    if (function->quantized.empty()) return out;
    out.tensors = function->quantized;
    for (const relax::Value* argument : function->body().arguments) {
      const auto* tensor = argument->info->as<relax::TensorInfo>();
      out.inputs.push_back(tensor == nullptr ? DType() : tensor->dtype.value_or(DType()));
    }
    return out;
  }
  for (const interface::Entry& entry : object.entries) {
    if (entry.name != name) continue;
    out.tensors = interface::quantized_tensors(entry);
    for (const interface::Tensor& input : entry.inputs) out.inputs.push_back(input.dtype);
  }
  return out;
}

HostTensor stored(const Quantization& q, const HostTensor& floats, DType dtype) {
  double low = dtype.is_int() ? -std::ldexp(1, dtype.bits - 1) : 0, high = low + std::ldexp(1, dtype.bits) - 1;
  return converted(q, floats, dtype, [&](double value, float scale, float zero) -> double {
    float rounded = std::nearbyint(static_cast<float>(value) / scale);
    return std::clamp<double>((std::isnan(rounded) ? 0 : rounded) + zero, low, high);
  });
}

std::vector<HostTensor> stored(const StoredInterface& in, std::vector<HostTensor> inputs) {
  for (const auto& [index, q] : in.tensors.inputs)
    if (index < inputs.size() && inputs[index].dtype == DType::f(32))
      inputs[index] = stored(q, inputs[index], in.inputs.at(index));
  return inputs;
}

Outcome as_floats(const StoredInterface& in, Outcome outcome) {
  auto* outputs = std::get_if<std::vector<HostTensor>>(&outcome);
  for (const auto& [index, q] : in.tensors.outputs) {
    if (outputs == nullptr || index >= outputs->size() || (*outputs)[index].dtype.is_float()) continue;
    (*outputs)[index] = converted(q, (*outputs)[index], DType::f(32), [](double value, float scale, float zero) {
      return (static_cast<float>(value) - zero) * scale;
    });
  }
  return outcome;
}

}  // namespace relaxc::equivalence
