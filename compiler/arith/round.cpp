// round.cpp: rounds constants to values of their dtype.
#include <cmath>
#include <cstring>

#include "compiler/arith/expr.h"

namespace relaxc::arith {
namespace {

/// Rounds to `mantissa` explicit bits, ties to even; `min_exponent` is that of the smallest normal number.
double round_mantissa(double value, int mantissa, int min_exponent) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = std::max(std::ilogb(value), min_exponent);
  double unit = std::ldexp(1.0, exponent - mantissa);
  return std::nearbyint(value / unit) * unit;
}

double with_limit(double value, double largest, double beyond) {
  return std::abs(value) > largest ? std::copysign(beyond, value) : value;
}

/// Rounds to the nearest power of two, ties to the larger; NaN for infinity and for numbers that are not positive.
double round_to_power(double value) {
  if (!(value > 0) || std::isinf(value)) return std::nan("");
  int exponent = std::max(std::ilogb(value), -127);
  if (std::ldexp(value, -exponent) >= 1.5) ++exponent;
  return exponent > 127 ? std::nan("") : std::ldexp(1.0, exponent);
}

}  // namespace

double round_to_dtype(double value, DType dtype) {
  double inf = HUGE_VAL, nan = std::nan("");
  switch (dtype.code) {
    case TypeCode::kFloat:
      if (dtype.bits == 64) return value;
      if (dtype.bits == 32) return static_cast<double>(static_cast<float>(value));
      return with_limit(round_mantissa(value, 10, -14), 65504, inf);
    case TypeCode::kBFloat:
      return with_limit(round_mantissa(value, 7, -126), 3.3895313892515355e38, inf);
    case TypeCode::kFloat8E4M3FN:
      return with_limit(round_mantissa(value, 3, -6), 448, nan);
    case TypeCode::kFloat8E4M3FNUZ:
      return with_limit(round_mantissa(value, 3, -7), 240, nan);
    case TypeCode::kFloat8E5M2:
      return with_limit(round_mantissa(value, 2, -14), 57344, inf);
    case TypeCode::kFloat8E5M2FNUZ:
      return with_limit(round_mantissa(value, 2, -15), 57344, nan);
    case TypeCode::kFloat8E8M0FNU:
      return round_to_power(value);
    case TypeCode::kFloat4E2M1FN:
      return std::isnan(value) ? -0.0 : with_limit(round_mantissa(value, 1, 0), 6, 6);
    default:
      RELAXC_UNREACHABLE("not a float dtype");
  }
}

int64_t wrap_to_dtype(int64_t value, DType dtype) {
  if (dtype.is_bool()) return value != 0;
  if (!dtype.is_integer() || dtype.bits == 64) return value;
  uint64_t mask = (uint64_t{1} << dtype.bits) - 1;
  uint64_t low = static_cast<uint64_t>(value) & mask;
  bool negative = dtype.is_int() && ((low >> (dtype.bits - 1)) & 1) != 0;
  return static_cast<int64_t>(negative ? low | ~mask : low);
}

}  // namespace relaxc::arith
