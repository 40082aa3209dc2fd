// quantization.cpp: quantization parameters of an entry, and their formula.
#include "compiler/interface/quantization.h"

#include <fmt/format.h>

namespace relaxc::interface {

QuantizedTensors quantized_tensors(const Entry& entry) {
  QuantizedTensors tensors;
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    if (entry.inputs[i].quant) tensors.inputs.emplace(i, *entry.inputs[i].quant);
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    if (entry.outputs[i].quant) tensors.outputs.emplace(i, *entry.outputs[i].quant);
  return tensors;
}

std::string formula_text(const Quantization& q) {
  if (q.axis >= 0) return fmt::format("(stored - zero point) * scale, both along axis {}", q.axis);
  std::string zero = q.zero_point[0] == 0  ? "stored"
                     : q.zero_point[0] < 0 ? fmt::format("(stored + {})", -int64_t{q.zero_point[0]})
                                           : fmt::format("(stored - {})", q.zero_point[0]);
  return fmt::format("{} * {}", zero, q.scale[0]);
}

}  // namespace relaxc::interface
