// quantization_text.h: the text of QuantizedTensors, a list with one entry for each tensor:
//   ["input 0: scale 0.0078125 zero -128", "output 1: axis 1 scale 0.5, 0.25 zero 0, 0"]
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/tir/quantization.h"

namespace relaxc::relax {

std::vector<std::string> to_text(const tir::QuantizedTensors& tensors);
/// Parses that form; nullopt if one of the texts has another.
std::optional<tir::QuantizedTensors> parse_quantized_tensors(const std::vector<std::string>& texts);

}  // namespace relaxc::relax
