// fixed_point.h: computes operators of quantized networks in integers.
#pragma once

#include "compiler/relax/builder.h"
#include "compiler/transform/graph/quantization/multiply_shift.h"
#include "compiler/transform/graph/quantization/pair_line.h"
#include "targets/target.h"

namespace relaxc {

/// Whether float32 is so expensive that integers replace it even without proof that they give the same results.
enum class FloatCost : uint8_t { kCheap, kExpensive };

struct FixedPointRules {
  Multiplication multiplication = Multiplication::kHigh;
  FloatCost floats = FloatCost::kCheap;
  bool by_channel = false;  ///< whether one kernel may have integers for some channels and floats for others
};

/// Returns a value, computed from integers alone, that replaces the result of `op`, a `requantize` or `quantize`; null
/// if it is neither, ranges are not known, or float32 would give other results and is cheap.
Result<relax::Value*> in_fixed_point(relax::GraphBuilder& b, const relax::Op& op, const FixedPointRules& rules);

/// Returns the same for a `quantize` of a softmax of a quantized tensor.
Result<relax::Value*> softmax_of_bytes(relax::GraphBuilder& b, const relax::Op& op);

/// Returns the upper half of 2x * m, rounded, if the result of `op` is x * m / 2^31, rounded to nearest with ties up,
/// of an int32 x that is known to be within -2^30..2^30 - 1 and constants m. Null otherwise.
relax::Value* as_high_product(relax::GraphBuilder& b, const relax::Op& op);

/// Returns a value equal to the result of `op`, the last of operators that scale an int32 tensor by integers of 64
/// bits, by one product of 32 bits and one shift; null if there is no such form (multiply_shift.h).
Result<relax::Value*> rescaled_in_one_product(relax::GraphBuilder& b, const relax::Op& op, Multiplication how);

/// Returns a value equal to the result of `op`, the last of operators that scale two tensors of bytes by integers of 64
/// bits and add them, by two products of 32 bits and one shift; null if there is no such line (pair_line.h).
relax::Value* rescaled_pair_by_line(relax::GraphBuilder& b, const relax::Op& op);

/// Returns the same product of int64 as `op`, with its constant factor, which fits int32, stored as int32; null if `op`
/// is none, or its other factor is not a widened int32.
relax::Value* with_narrow_factor(relax::GraphBuilder& b, const relax::Op& op);

/// Builds operators on integers, one after the other, for a rule.
class IntegerSteps {
 public:
  explicit IntegerSteps(relax::GraphBuilder& b) : b_(b) {}

  /// Returns a constant of int32 with `values` along an axis of the result, counted from the end.
  relax::Value* numbers(const std::vector<int64_t>& values, size_t from_end) const;
  relax::Value* number(double value, DType dtype = DType::i(32)) const { return b_.scalar(dtype, value); }
  relax::Value* cast(relax::Value* x, DType dtype) const;
  relax::Value* call(relax::OpName op, relax::Value* x, relax::Value* y) const;
  relax::Value* call(relax::OpName op, relax::Value* x, double y) const { return call(op, x, number(y, x->dtype())); }
  /// Clamps x to low..high and casts it to `dtype`, that of stored numbers.
  relax::Value* stored(relax::Value* x, int64_t low, int64_t high, DType dtype) const;
  /// Applies the line to two tensors of bytes, and clamps it to low..high.
  relax::Value* line(const PairLine& line, relax::Value* a, relax::Value* b, int64_t low, int64_t high,
                     DType dtype) const;
  /// Applies the form to x, of int32, whose values have `bits` bits.
  relax::Value* apply(const MultiplyShift& form, relax::Value* x, int bits, size_t from_end, Multiplication how) const;
  /// Returns the first part of the form: the product, shifted right by `product_shift`.
  relax::Value* product(const MultiplyShift& form, relax::Value* x, int bits, size_t from_end,
                        Multiplication how) const;
  /// Returns the second part of the form: the sum with the addend, shifted right.
  relax::Value* shifted(const MultiplyShift& form, relax::Value* sum, size_t from_end) const;

 private:
  relax::Value* product_in_parts(const MultiplyShift& form, relax::Value* x, int bits, size_t from_end) const;

  relax::GraphBuilder& b_;
};

}  // namespace relaxc
