// fixed_point.h: operators of quantized networks in integers.
#pragma once

#include "compiler/relax/builder.h"
#include "compiler/transform/graph/quantization/multiply_shift.h"
#include "targets/target.h"

namespace relaxc {

/// Whether float32 is expensive enough for integers that are not shown to give the same results.
enum class FloatCost : uint8_t { kCheap, kExpensive };

struct FixedPointRules {
  Multiplication multiplication = Multiplication::kHigh;
  FloatCost floats = FloatCost::kCheap;
};

/// What can stand for the result of `op`, a `requantize` or `quantize`, computed from integers alone; null where `op`
/// is neither, ranges are not known, or float32 would give other results and is cheap.
Result<relax::Value*> in_fixed_point(relax::GraphBuilder& b, const relax::Op& op, const FixedPointRules& rules);

/// The same for a `quantize` of a softmax of a quantized tensor.
Result<relax::Value*> softmax_of_bytes(relax::GraphBuilder& b, const relax::Op& op);

/// What can stand for the result of `op` where that is x * m / 2^31, rounded to nearest with ties up, of an int32 x
/// that is known to be within -2^30..2^30 - 1 and constants m: the upper half of 2x * m, rounded. Null otherwise.
relax::Value* as_high_product(relax::GraphBuilder& b, const relax::Op& op);

/// What gives the same bytes as `op`, the last of operators that scale an int32 tensor by integers of 64 bits, and
/// needs one product of 32 bits and one shift; null where there is no such form (multiply_shift.h).
Result<relax::Value*> rescaled_in_one_product(relax::GraphBuilder& b, const relax::Op& op, Multiplication how);

/// The same product of int64 as `op`, whose constant factor fits int32 and is stored as that; null if `op` is none, or
/// its other factor is not a widened int32.
relax::Value* with_narrow_factor(relax::GraphBuilder& b, const relax::Op& op);

/// Operators on integers, which a rule builds one after the other.
class IntegerSteps {
 public:
  explicit IntegerSteps(relax::GraphBuilder& b) : b_(b) {}

  /// Numbers of int32 along an axis of the result, counted from the end.
  relax::Value* numbers(const std::vector<int64_t>& values, size_t from_end) const;
  relax::Value* number(double value, DType dtype = DType::i(32)) const { return b_.scalar(dtype, value); }
  relax::Value* cast(relax::Value* x, DType dtype) const;
  relax::Value* call(relax::OpName op, relax::Value* x, relax::Value* y) const;
  relax::Value* call(relax::OpName op, relax::Value* x, double y) const { return call(op, x, number(y, x->dtype())); }
  /// low..high, in the dtype of stored numbers.
  relax::Value* stored(relax::Value* x, int64_t low, int64_t high, DType dtype) const;
  /// The form applied to x, of int32, whose numbers have `bits`.
  relax::Value* apply(const MultiplyShift& form, relax::Value* x, int bits, size_t from_end, Multiplication how) const;
  /// What begins it: the product, shifted to the right by `product_shift`.
  relax::Value* product(const MultiplyShift& form, relax::Value* x, int bits, size_t from_end,
                        Multiplication how) const;
  /// What ends a form: the sum, shifted to the right.
  relax::Value* shifted(const MultiplyShift& form, relax::Value* sum, size_t from_end) const;

 private:
  relax::Value* product_in_parts(const MultiplyShift& form, relax::Value* x, int bits, size_t from_end) const;

  relax::GraphBuilder& b_;
};

}  // namespace relaxc
