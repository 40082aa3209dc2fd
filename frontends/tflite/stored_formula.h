// stored_formula.h: emits what TFLite's kernels compute on stored integers: fixed-point multipliers and tables.
#pragma once

#include <optional>
#include <vector>

#include "frontends/tflite/quantization.h"
#include "frontends/tflite/tensor_formula.h"

namespace relaxc::tflite {

/// The output to which `StoredFormula::scale` converts a scaled value.
struct Stored {
  DType dtype = DType::i(32);
  int64_t zero_point = 0;
  std::optional<Limits> limits = {};  ///< default: the limits of the dtype
  bool reduced = false;               ///< the rounding (fixed_point.h): "reduced", for int64 sums; else "double"
};

class StoredFormula : public TensorFormula {
 public:
  using TensorFormula::TensorFormula;

  /// Returns x * m in fixed point, with one multiplier or one per index of the last axis.
  Value* scale(Value* x, Multiplier m, const Stored& stored = {}) { return scale(x, std::vector{m}, stored); }
  Value* scale(Value* x, const std::vector<Multiplier>& m, const Stored& stored = {});
  /// Adds the zero point to an int32 x, clamps it to the limits and converts it.
  Value* store(Value* x, const Stored& stored);
  /// Clamps x to the range of `dtype` and converts it.
  Value* saturate(Value* x, DType dtype);
  /// Replaces every byte of x by an entry of a table of 256; entry 0 is for the lowest value of x's dtype.
  Value* look_up(Value* x, const Ints& table, DType dtype);
  /// Interpolates a table of 513 entries linearly at x, an int32 in -32768..32767; returns int32.
  Value* interpolate(Value* x, const std::vector<int16_t>& table);
};

}  // namespace relaxc::tflite
