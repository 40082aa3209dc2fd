// quantization.h: the real values of stored integers, for the inputs and outputs of a function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace relaxc::tir {

/// Stored integers represent real = (stored - zero_point) * scale.
struct Quantization {
  int32_t axis = -1;                ///< the axis of scales and zero points, one each for an index; -1: one of both
  std::vector<float> scale;         ///< one, or as many as the axis is long
  std::vector<int32_t> zero_point;  ///< the same number
  friend bool operator==(const Quantization&, const Quantization&) = default;
};

/// Keys are numbers of a function's inputs and outputs as the object counts them, with tuples flattened.
struct QuantizedTensors {
  std::map<size_t, Quantization> inputs, outputs;
  bool empty() const { return inputs.empty() && outputs.empty(); }
  friend bool operator==(const QuantizedTensors&, const QuantizedTensors&) = default;
};

}  // namespace relaxc::tir
