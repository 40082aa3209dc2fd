// quantization.h: what stored integers stand for, and which tensors of a function's interface are stored so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace relaxc::tir {

/// Stored integers that stand for real = (stored - zero_point) * scale.
struct Quantization {
  int32_t axis = -1;                ///< along which scales and zero points are, one each; -1: one of both for all
  std::vector<float> scale;         ///< as many as there are places
  std::vector<int32_t> zero_point;  ///< the same number
  friend bool operator==(const Quantization&, const Quantization&) = default;
};

/// By the numbers of a function's inputs and outputs as the object counts them, with tuples taken apart.
struct QuantizedTensors {
  std::map<size_t, Quantization> inputs, outputs;
  bool empty() const { return inputs.empty() && outputs.empty(); }
  friend bool operator==(const QuantizedTensors&, const QuantizedTensors&) = default;
};

}  // namespace relaxc::tir
