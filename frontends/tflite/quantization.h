// quantization.h: how TFLite makes integers of real multipliers, and its fixed-point arithmetic for numbers that are
// known when compiling.
//
// Sources: TFLite's 8-bit quantization specification, gemmlowp's documentation of fixed point, and the outputs of the
// interpreter with its reference kernels, to which tests/tflite compares every operator bit for bit.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/support/dtype.h"

namespace relaxc::tflite {

/// A real number that is not negative as mantissa * 2^(shift - 31).
struct Multiplier {
  int32_t mantissa = 0;
  int32_t shift = 0;
};

/// The nearest such number; numbers below 2^-32 become 0.
Multiplier multiplier_of(double real);

/// Bounds of a stored result.
struct Limits {
  int64_t low = 0, high = 0;
};
Limits limits_of(DType stored);

/// x * m with the product's high half rounded first and then the shift, each to nearest
/// (frontends/tflite/fixed_point.h: rounding "double").
int32_t scaled(int32_t x, Multiplier m);
/// a * b / 2^31 to nearest, saturated.
int32_t doubled_high(int32_t a, int32_t b);
int16_t doubled_high16(int16_t a, int16_t b);
/// x / 2^exponent to nearest, ties away from zero.
int32_t divided_by_power(int32_t x, int exponent);
/// x * 2^exponent, saturated; a negative exponent divides to nearest.
int32_t multiplied_by_power(int32_t x, int exponent);

/// Functions of fixed-point numbers with `integer_bits` bits before the point: x / 2^(31 - integer_bits).
/// exp(x) for x <= 0, in 31 fractional bits.
int32_t fixed_exp(int32_t x, int integer_bits);
/// 1 / (1 + exp(-x)), in 31 fractional bits.
int32_t fixed_logistic(int32_t x, int integer_bits);
int32_t fixed_tanh(int32_t x, int integer_bits);
/// 2^30 / (1 + x / 2^31), x in 0..1, in 29 fractional bits before it is doubled: 1 / (1 + x) in 31.
int32_t fixed_reciprocal(int32_t x);

/// 1 / sqrt(x) as mantissa * 2^(shift - 31), as TFLite finds it: of x up to 1 it is 1.
Multiplier inverse_root_of(int32_t x);

/// The table of 513 results by which TFLite's 16-bit kernels interpolate a function, computed in `Float`. Operand and
/// result are stored with these scales and zero points.
template <typename Float>
std::vector<int16_t> table_of_16_bits(Float in_scale, int32_t in_zero, Float out_scale, int32_t out_zero,
                                      const std::function<Float(Float)>& function);
/// The 256 results of a function of stored bytes, lowest operand first, computed in float32.
std::vector<int64_t> table_of_bytes(DType in, float in_scale, int64_t in_zero, DType out, float out_scale,
                                    int64_t out_zero, const std::function<float(float)>& function);

}  // namespace relaxc::tflite
