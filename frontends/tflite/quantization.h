// quantization.h: how TFLite turns real multipliers into integers, and its fixed-point arithmetic for numbers that are
// known at compile time.
//
// Sources: TFLite's 8-bit quantization specification, gemmlowp's documentation of fixed point, and the outputs of the
// interpreter with its reference kernels, with which tests/tflite compares every operator bit for bit.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/support/dtype.h"

namespace relaxc::tflite {

/// A non-negative real number: mantissa * 2^(shift - 31).
struct Multiplier {
  int32_t mantissa = 0;
  int32_t shift = 0;
};

/// Returns the multiplier nearest to `real`; numbers below 2^-32, negative ones and NaN give 0.
Multiplier multiplier_of(double real);

/// Inclusive bounds of a stored result; limits_of returns those of an integer dtype, of 64 bits those of int64.
struct Limits {
  int64_t low = 0, high = 0;
};
Limits limits_of(DType stored);

/// Returns x * m. The product's high half is rounded first, then the shift, each to nearest: rounding "double" of
/// frontends/tflite/fixed_point.h.
int32_t scaled(int32_t x, Multiplier m);
/// Return a * b / 2^31 (2^15 for 16 bits), rounded to nearest and saturated.
int32_t doubled_high(int32_t a, int32_t b);
int16_t doubled_high16(int16_t a, int16_t b);
/// Returns x / 2^exponent to nearest, ties away from zero.
int32_t divided_by_power(int32_t x, int exponent);
/// Returns x * 2^exponent, saturated; a negative exponent divides, rounded to nearest.
int32_t multiplied_by_power(int32_t x, int exponent);

/// These take fixed-point numbers with `integer_bits` bits before the point, x / 2^(31 - integer_bits), and return
/// numbers with 31 fractional bits. fixed_exp returns exp(x) for x <= 0.
int32_t fixed_exp(int32_t x, int integer_bits);
/// fixed_logistic returns 1 / (1 + exp(-x)); fixed_tanh returns tanh(x).
int32_t fixed_logistic(int32_t x, int integer_bits);
int32_t fixed_tanh(int32_t x, int integer_bits);
/// Returns 1 / (1 + x) for x in 0..1; both have 31 fractional bits.
int32_t fixed_reciprocal(int32_t x);

/// Returns 1 / sqrt(x) as TFLite computes it; for x up to 1, it is 1.
Multiplier inverse_root_of(int32_t x);

/// Returns the table of 513 entries with which TFLite's 16-bit kernels interpolate a function, computed in `Float`. The
/// operand and the result have the given scales and zero points.
template <typename Float>
std::vector<int16_t> table_of_16_bits(Float in_scale, int32_t in_zero, Float out_scale, int32_t out_zero,
                                      const std::function<Float(Float)>& function);
/// Returns the 256 results of a function of one stored byte, lowest operand first, computed in float32.
std::vector<int64_t> table_of_bytes(DType in, float in_scale, int64_t in_zero, DType out, float out_scale,
                                    int64_t out_zero, const std::function<float(float)>& function);

}  // namespace relaxc::tflite
