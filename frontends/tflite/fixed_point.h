// fixed_point.h: TFLite's fixed-point arithmetic as operators of ours: integers throughout, so that every backend gives
// the same bits.
//
// A real multiplier is mantissa * 2^(shift - 31). Three roundings exist, and each of TFLite's reference kernels has
// one:
//   double   the doubled high half of the product is rounded to nearest, ties up, then divided by 2^-shift, rounded to
//            nearest, ties away from zero; a shift above 0 is applied before. Kernels of 8 bits, and of 16 bits with
//            sums of 32.
//   reduced  the mantissa is rounded to 16 bits, and the whole product once, ties up: kernels of 16 bits with sums
//   of 64. whole    the product with the real multiplier, a float64, is rounded once, ties away from zero:
//   FULLY_CONNECTED.
// Builds of TFLite with TFLITE_SINGLE_ROUNDING, which round the product of the first kind once, are not followed.
#pragma once

#include <utility>
#include <vector>

#include "frontends/tflite/formula.h"
#include "frontends/tflite/quantization.h"

namespace relaxc::tflite {

/// Whether it matters what negative numbers become, or all that are not above 0 are the same afterwards.
enum class Negatives : uint8_t { kMatter, kAreCut };

class FixedPoint {
 public:
  explicit FixedPoint(Formula& formula) : f_(formula) {}

  /// x times one multiplier, or one for each place along the last axis, rounded doubly; x and the result are int32.
  Value* scale(Value* x, const std::vector<Multiplier>& m, Negatives negatives = Negatives::kMatter);
  /// The same of int64 sums, rounded once after the mantissas are reduced to 16 bits; int32.
  Value* scale_reduced(Value* x, const std::vector<Multiplier>& m);
  /// x times a float64, or one for each place along the last axis, rounded as a whole; x is int32 or int64, the result
  /// int32. Of int32 in integers: x times the float64's 53 bits is exact, where TFLite rounds it to float64 first,
  /// which can only differ if the product is within a 2^-37th of a tie. Of int64 in float64.
  Value* scale_whole(Value* x, const std::vector<double>& m);
  /// x times mantissa * 2^(shift - 31) of int32 tensors that broadcast, rounded doubly.
  Value* scale(Value* x, Value* mantissa, Value* shift);

  /// a * b / 2^31 to nearest, ties up.
  Value* times(Value* a, Value* b);
  Value* times(Value* a, int32_t b) { return times(a, f_.like(a, b)); }
  /// How many bits of x, above 0, are 0 above its highest set bit.
  Value* leading_zeros(Value* x);
  /// 1 / (1 + x) of x in 0..1, both of 31 fractional bits.
  Value* reciprocal(Value* x);
  /// 1 / sqrt(x) as mantissa and shift: what inverse_root_of (quantization.h) gives.
  std::pair<Value*, Value*> inverse_root(Value* x);

 private:
  Value* right(Value* x, int64_t by);
  Value* scale_whole_in_float(Value* x, const std::vector<double>& m);
  Value* left_saturated(Value* x, int64_t by);
  /// x / 2^by to nearest, ties away from zero. `half_mask` is (2^by - 1) / 2, `mask` 2^by - 1.
  Value* halved(Value* x, Value* by, Value* mask, Value* half_mask);
  /// The same of an x that is not INT32_MIN, by counts that are known. Where none is 0: with one less of negative
  /// numbers, ties go up, and a last bit more than `by` keeps is all that the rounding needs, so nothing overflows.
  Value* halved(Value* x, std::vector<int64_t> by, Negatives negatives);
  Value* numbers(DType dtype, const std::vector<int64_t>& values);

  Formula& f_;
};

}  // namespace relaxc::tflite
