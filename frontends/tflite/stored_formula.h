// stored_formula.h: what TFLite's kernels compute of stored integers: multipliers in fixed point, tables.
#pragma once

#include <optional>
#include <vector>

#include "frontends/tflite/quantization.h"
#include "frontends/tflite/tensor_formula.h"

namespace relaxc::tflite {

/// What `StoredFormula::scale` makes of a scaled value.
struct Stored {
  DType dtype = DType::i(32);
  int64_t zero_point = 0;
  std::optional<Limits> limits = {};  ///< default: those of the dtype
  bool reduced = false;               ///< how the scale is rounded (fixed_point.h): of int64, reduced; else double
};

class StoredFormula : public TensorFormula {
 public:
  using TensorFormula::TensorFormula;

  /// x * m in fixed point, with one multiplier or one for each place along the last axis.
  Value* scale(Value* x, Multiplier m, const Stored& stored = {}) { return scale(x, std::vector{m}, stored); }
  Value* scale(Value* x, const std::vector<Multiplier>& m, const Stored& stored = {});
  /// x of int32, with the zero point added, cut to the limits and converted.
  Value* store(Value* x, const Stored& stored);
  /// x cut to the range of `dtype` and converted.
  Value* saturate(Value* x, DType dtype);
  /// The element of a table for every stored value of x, in place of it; entry 0 is that of the lowest.
  Value* look_up(Value* x, const Ints& table, DType dtype);
  /// The value of a table of 513 numbers at x, int32 in -32768..32767, interpolated between two of them; int32.
  Value* interpolate(Value* x, const std::vector<int16_t>& table);
};

}  // namespace relaxc::tflite
