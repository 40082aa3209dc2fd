// quantization.cpp: see quantization.h. All of it is integer arithmetic, except for tables that TFLite itself computes
// in floating point.
#include "frontends/tflite/quantization.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace relaxc::tflite {
namespace {

constexpr int32_t kOne = std::numeric_limits<int32_t>::max();  // 1.0 with 31 fractional bits, saturated

int32_t saturated(int64_t x) {
  return static_cast<int32_t>(std::clamp<int64_t>(x, INT32_MIN, INT32_MAX));
}

/// Returns the low 32 bits in two's complement, without undefined overflow.
int32_t wrapped(int64_t x) {
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(x)));
}

int32_t sum(int32_t a, int32_t b) {
  return wrapped(int64_t{a} + b);
}

/// Returns exp(x) for x in -1/4..0 with 31 fractional bits, by Taylor's polynomial of degree 4 around -1/8.
int32_t exp_near_zero(int32_t a) {
  constexpr int32_t kExpOfEighth = 1895147668;  // exp(-1/8)
  constexpr int32_t kThird = 715827883;
  int32_t x = sum(a, 1 << 28), x2 = doubled_high(x, x), x3 = doubled_high(x2, x), x4 = doubled_high(x2, x2);
  int32_t x4_over_4 = divided_by_power(x4, 2);
  int32_t tail = divided_by_power(sum(doubled_high(sum(x4_over_4, x3), kThird), x2), 1);
  return sum(kExpOfEighth, doubled_high(kExpOfEighth, sum(x, tail)));
}

/// Returns 2 / (1 + a) in 29 fractional bits, by Newton's method for the reciprocal of (1 + a) / 2.
int32_t twice_reciprocal(int32_t a) {
  int64_t whole = int64_t{a} + kOne;
  auto half = static_cast<int32_t>((whole + (whole >= 0 ? 1 : -1)) / 2);
  constexpr int32_t k48Over17 = 1515870810, kMinus32Over17 = -1010580540, kOneOf29 = 1 << 29;
  int32_t x = sum(k48Over17, doubled_high(half, kMinus32Over17));
  for (int round = 0; round < 3; ++round) {
    int32_t error = wrapped(int64_t{kOneOf29} - doubled_high(half, x));
    x = sum(x, multiplied_by_power(doubled_high(x, error), 2));
  }
  return x;
}

}  // namespace

Multiplier multiplier_of(double real) {
  if (!(real > 0)) return {};
  int exponent = 0;
  double fraction = std::frexp(real, &exponent);
  auto mantissa = static_cast<int64_t>(std::round(fraction * static_cast<double>(int64_t{1} << 31)));
  if (mantissa == int64_t{1} << 31) mantissa /= 2, ++exponent;
  if (exponent < -31) return {};
  return {static_cast<int32_t>(mantissa), exponent};
}

Limits limits_of(DType stored) {
  if (stored.bits >= 64) return {stored.is_int() ? INT64_MIN : 0, INT64_MAX};
  int64_t low = stored.is_int() ? -(int64_t{1} << (stored.bits - 1)) : 0;
  return {low, low + (int64_t{1} << stored.bits) - 1};
}

int32_t doubled_high(int32_t a, int32_t b) {
  if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
  int64_t product = int64_t{a} * b;
  int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
  return static_cast<int32_t>((product + nudge) / (int64_t{1} << 31));
}

int16_t doubled_high16(int16_t a, int16_t b) {
  if (a == INT16_MIN && b == INT16_MIN) return INT16_MAX;
  int32_t product = int32_t{a} * b, nudge = product >= 0 ? 1 << 14 : 1 - (1 << 14);
  return static_cast<int16_t>((product + nudge) / (1 << 15));
}

int32_t divided_by_power(int32_t x, int exponent) {
  if (exponent <= 0) return x;
  auto mask = static_cast<int32_t>((int64_t{1} << exponent) - 1);
  int32_t rest = x & mask, most = (mask >> 1) + (x < 0 ? 1 : 0);
  return (x >> exponent) + (rest > most ? 1 : 0);
}

int32_t multiplied_by_power(int32_t x, int exponent) {
  if (exponent <= 0) return divided_by_power(x, -exponent);
  return saturated(exponent > 31 ? (x == 0  ? 0
                                    : x < 0 ? INT64_MIN
                                            : INT64_MAX)
                                 : int64_t{x} * (int64_t{1} << exponent));
}

int32_t scaled(int32_t x, Multiplier m) {
  int32_t shifted = wrapped(int64_t{x} * (int64_t{1} << std::max(m.shift, 0)));
  return divided_by_power(doubled_high(shifted, m.mantissa), std::max(-m.shift, 0));
}

int32_t fixed_exp(int32_t x, int integer_bits) {
  // Each bit of x's whole quarters, 2^exponent, contributes the factor exp(-2^exponent).
  constexpr struct {
    int exponent;
    int32_t factor;
  } kSteps[] = {{-2, 1672461947}, {-1, 1302514674}, {0, 790015084}, {1, 290630308},
                {2, 39332535},    {3, 720401},      {4, 242}};
  if (x == 0) return kOne;
  int fraction_bits = 31 - integer_bits;
  int32_t quarter = 1 << (fraction_bits - 2), rest = (x & (quarter - 1)) - quarter;
  int32_t result = exp_near_zero(multiplied_by_power(rest, integer_bits));
  int32_t above = wrapped(int64_t{rest} - x);
  for (const auto& step : kSteps)
    if (integer_bits > step.exponent && (above & (1 << std::max(0, fraction_bits + step.exponent))) != 0)
      result = doubled_high(result, step.factor);
  if (integer_bits > 5 && x < -(1 << (fraction_bits + 5))) return 0;
  return result;
}

Multiplier inverse_root_of(int32_t x) {
  if (x <= 1) return {kOne, 0};
  int shift = 11;
  for (; x >= 1 << 29; x /= 4) ++shift;
  int pairs = (std::countl_zero(static_cast<uint32_t>(x)) - 1) / 2 - 1;
  shift -= pairs;
  int32_t half = divided_by_power((x << (2 * pairs)) >> 1, 1);
  int32_t root = 1 << 28;
  for (int round = 0; round < 5; ++round) {
    int32_t cube = multiplied_by_power(doubled_high(doubled_high(root, root), root), 6);
    constexpr int32_t kThreeHalves = (1 << 28) + (1 << 27);
    root = multiplied_by_power(wrapped(int64_t{doubled_high(kThreeHalves, root)} - doubled_high(half, cube)), 3);
  }
  constexpr int32_t kRootOfHalf = 1518500250;
  root = doubled_high(root, kRootOfHalf);
  if (shift < 0) root = wrapped(int64_t{root} << -shift), shift = 0;
  return {root, -shift};
}

int32_t fixed_reciprocal(int32_t x) {
  return multiplied_by_power(twice_reciprocal(x), 1);
}

int32_t fixed_logistic(int32_t x, int integer_bits) {
  if (x == 0) return 1 << 30;
  int32_t positive = fixed_reciprocal(fixed_exp(x > 0 ? -x : x, integer_bits));
  return x > 0 ? positive : kOne - positive;
}

int32_t fixed_tanh(int32_t x, int integer_bits) {
  if (x == 0) return 0;
  // (1 - e) / (1 + e) with e = exp(-2 |x|); the factor 2 is one more integer bit instead of a shift of x.
  int32_t e = fixed_exp(x < 0 ? x : -x, integer_bits + 1);
  int32_t t = multiplied_by_power(wrapped(int64_t{twice_reciprocal(e)} - (1 << 29)), 2);
  return x < 0 ? -t : t;
}

template <typename Float>
std::vector<int16_t> table_of_16_bits(Float in_scale, int32_t in_zero, Float out_scale, int32_t out_zero,
                                      const std::function<Float(Float)>& function) {
  constexpr int kSteps = 512;
  const Float low = in_scale * static_cast<Float>(INT16_MIN - in_zero);
  const Float high = in_scale * static_cast<Float>(INT16_MAX - in_zero);
  const Float step = (high - low) / kSteps, half = step / 2;
  const Float out_low = out_scale * static_cast<Float>(INT16_MIN - out_zero);
  const Float out_high = out_scale * static_cast<Float>(INT16_MAX - out_zero);
  const Float inverse = static_cast<Float>(65536) / (out_high - out_low);
  auto stored = [](Float value) {
    return static_cast<int16_t>(std::min(std::max(value, Float{-32768}), Float{32767}));
  };
  std::vector<int16_t> table;
  for (int i = 0; i < kSteps; ++i) {
    // An entry is moved by half of the interpolation error in the middle of its interval.
    const Float at = low + static_cast<Float>(i) * step;
    const Float next = function(low + static_cast<Float>(i + 1) * step);
    const Float sample = std::round(function(at) * inverse);
    const Float interpolated = std::round((next * inverse + sample) / 2);
    const Float exact = std::round(function(at + half) * inverse);
    table.push_back(stored(sample - std::round((interpolated - exact) / 2)));
  }
  table.push_back(stored(std::round(function(high) * inverse)));
  return table;
}

template std::vector<int16_t> table_of_16_bits(float, int32_t, float, int32_t, const std::function<float(float)>&);
template std::vector<int16_t> table_of_16_bits(double, int32_t, double, int32_t, const std::function<double(double)>&);

std::vector<int64_t> table_of_bytes(DType in, float in_scale, int64_t in_zero, DType out, float out_scale,
                                    int64_t out_zero, const std::function<float(float)>& function) {
  Limits from = limits_of(in), to = limits_of(out);
  const float inverse = 1 / out_scale;
  std::vector<int64_t> table;
  for (int64_t stored = from.low; stored <= from.high; ++stored) {
    float real = in_scale * static_cast<float>(stored - in_zero);
    float steps = std::round(function(real) * inverse) + static_cast<float>(out_zero);
    if (std::isnan(steps)) steps = 0;
    table.push_back(static_cast<int64_t>(std::clamp(steps, static_cast<float>(to.low), static_cast<float>(to.high))));
  }
  return table;
}

}  // namespace relaxc::tflite
