// fixed_point.h: emits TFLite's fixed-point arithmetic as relax operators. All of it is on integers, so that every
// backend gives the same bits.
//
// A real multiplier is mantissa * 2^(shift - 31). There are three ways of rounding; each of TFLite's reference kernels
// uses one of them:
//   double   the doubled high half of the product is rounded to nearest, ties up, then divided by 2^-shift, rounded to
//            nearest, ties away from zero; a shift above 0 is applied before. Kernels of 8 bits, and of 16 bits with
//            sums of 32.
//   reduced  the mantissa is rounded to 16 bits, the product once, ties up: kernels of 16 bits with sums of 64.
//   whole    the product with the real multiplier, a float64, is rounded once, ties away from zero:
//            FULLY_CONNECTED.
// Builds of TFLite with TFLITE_SINGLE_ROUNDING round the product of the first kind once; relaxc does not follow them.
#pragma once

#include <utility>
#include <vector>

#include "frontends/tflite/formula.h"
#include "frontends/tflite/quantization.h"

namespace relaxc::tflite {

/// Whether results of negative numbers matter, or are clamped so that only positive ones do.
enum class Negatives : uint8_t { kMatter, kAreCut };

class FixedPoint {
 public:
  explicit FixedPoint(Formula& formula) : f_(formula) {}

  /// Returns x times one multiplier, or one per index of the last axis, with rounding "double"; x and result are int32.
  Value* scale(Value* x, const std::vector<Multiplier>& m, Negatives negatives = Negatives::kMatter);
  /// Same for int64 sums with rounding "reduced": mantissas have 16 bits, the product is rounded once; gives int32.
  Value* scale_reduced(Value* x, const std::vector<Multiplier>& m);
  /// Returns x times a float64, or one per index of the last axis, with rounding "whole"; x is int32 or int64, the
  /// result int32. An int32 x is multiplied exactly by the float64's 53 bits; TFLite rounds x * m to float64 first,
  /// which can only differ if the product is within 2^-37 of a tie. An int64 x is computed in float64.
  Value* scale_whole(Value* x, const std::vector<double>& m);
  /// Returns x * mantissa * 2^(shift - 31), rounded as "double"; all are int32 tensors that broadcast.
  Value* scale(Value* x, Value* mantissa, Value* shift);

  /// Returns a * b / 2^31, rounded to nearest, ties up.
  Value* times(Value* a, Value* b);
  Value* times(Value* a, int32_t b) { return times(a, f_.like(a, b)); }
  /// Returns the number of leading zero bits of x, which must be positive.
  Value* leading_zeros(Value* x);
  /// Returns 1 / (1 + x) for x in 0..1; both have 31 fractional bits.
  Value* reciprocal(Value* x);
  /// Returns 1 / sqrt(x) as mantissa and shift, equal to what inverse_root_of (quantization.h) gives.
  std::pair<Value*, Value*> inverse_root(Value* x);

 private:
  Value* right(Value* x, int64_t by);
  Value* scale_whole_in_float(Value* x, const std::vector<double>& m);
  Value* left_saturated(Value* x, int64_t by);
  /// Returns x / 2^by to nearest, ties away from zero. `half_mask` is (2^by - 1) / 2, `mask` is 2^by - 1.
  Value* halved(Value* x, Value* by, Value* mask, Value* half_mask);
  /// Same for known counts and an x that is not INT32_MIN. If no count is 0, one is subtracted from negative x, so that
  /// ties can be rounded up, and x is shifted to one bit more than `by` leaves first, so no sum overflows.
  Value* halved(Value* x, std::vector<int64_t> by, Negatives negatives);
  Value* numbers(DType dtype, const std::vector<int64_t>& values);

  Formula& f_;
};

}  // namespace relaxc::tflite
