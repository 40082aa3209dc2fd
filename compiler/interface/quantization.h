// quantization.h: which tensors of a function's interface are stored as integers that stand for real numbers.
//
// Between the pass that decides it (quantized_io) and the records of the object it is an attribute of the Relax
// function, "quantized", a list with one text a tensor, so that it prints, parses and can be written by hand:
//   {"quantized": ["input 0: scale 0.0078125 zero -128", "output 1: axis 1 scale 0.5, 0.25 zero 0, 0"]}
// Numbers count inputs and outputs as the object does, with tuples taken apart.
#pragma once

#include <map>
#include <optional>

#include "compiler/interface/object.h"

namespace relaxc::interface {

struct QuantizedTensors {
  std::map<size_t, Quantization> inputs, outputs;
};

std::vector<std::string> to_text(const QuantizedTensors& tensors);
/// Nothing if one of the texts is not of that form.
std::optional<QuantizedTensors> parse_quantized(const std::vector<std::string>& texts);

/// What the tensors of `entry` stand for.
QuantizedTensors quantized_tensors(const Entry& entry);

/// "(stored - 3) * 0.5", for comments and tables; of more than one scale the axis.
std::string formula_text(const Quantization& quantization);

}  // namespace relaxc::interface
