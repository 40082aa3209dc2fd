// float_bits.cpp: converts one float to and from bits.
#include "compiler/arith/float_bits.h"

#include <bit>
#include <cmath>

#include "compiler/arith/expr.h"

namespace relaxc::arith {
namespace {

/// The parameters of a small float format. `fn`: it has no infinity; `uz`: no negative zero, whose code is the NaN;
/// `finite`: no NaN either.
struct Format {
  int mantissa, bias;
  bool fn = false, uz = false, finite = false;
};

Format format_of(DType dtype) {
  switch (dtype.code) {
    case TypeCode::kFloat:
      return {10, 15};
    case TypeCode::kBFloat:
      return {7, 127};
    case TypeCode::kFloat8E4M3FN:
      return {3, 7, true, false};
    case TypeCode::kFloat8E4M3FNUZ:
      return {3, 8, true, true};
    case TypeCode::kFloat8E5M2:
      return {2, 15};
    case TypeCode::kFloat8E5M2FNUZ:
      return {2, 16, true, true};
    case TypeCode::kFloat4E2M1FN:
      return {1, 1, true, false, true};
    default:
      RELAXC_UNREACHABLE("not a small float");
  }
}

/// Encodes a power of two: its code is the biased exponent.
uint64_t encode_power(double value) {
  value = round_to_dtype(value, {TypeCode::kFloat8E8M0FNU, 8});
  return std::isnan(value) ? 0xff : static_cast<uint64_t>(std::ilogb(value) + 127);
}

uint64_t encode_small(DType dtype, double value) {
  if (dtype.code == TypeCode::kFloat8E8M0FNU) return encode_power(value);
  Format f = format_of(dtype);
  uint64_t sign_bit = uint64_t{1} << (dtype.bits - 1);
  uint64_t exponent_mask = (sign_bit - 1) >> f.mantissa, all = sign_bit - 1;
  value = round_to_dtype(value, dtype);
  uint64_t sign = std::signbit(value) ? sign_bit : 0;
  if (std::isnan(value))
    return f.uz   ? sign_bit
           : f.fn ? sign | all
                  : sign | (exponent_mask << f.mantissa) | (uint64_t{1} << (f.mantissa - 1));
  if (std::isinf(value)) return sign | (exponent_mask << f.mantissa);
  if (value == 0) return f.uz ? 0 : sign;
  int exponent = std::max(std::ilogb(value), 1 - f.bias);
  auto mantissa = static_cast<uint64_t>(std::ldexp(std::abs(value), f.mantissa - exponent));
  bool normal = mantissa >> f.mantissa != 0;
  uint64_t biased = normal ? static_cast<uint64_t>(exponent + f.bias) : 0;
  return sign | (biased << f.mantissa) | (mantissa & ((uint64_t{1} << f.mantissa) - 1));
}

double decode_small(DType dtype, uint64_t bits) {
  if (dtype.code == TypeCode::kFloat8E8M0FNU)
    return bits == 0xff ? std::nan("") : std::ldexp(1.0, static_cast<int>(bits) - 127);
  Format f = format_of(dtype);
  uint64_t sign_bit = uint64_t{1} << (dtype.bits - 1), all = sign_bit - 1;
  uint64_t exponent_mask = all >> f.mantissa;
  double sign = (bits & sign_bit) != 0 ? -1.0 : 1.0;
  uint64_t biased = (bits & all) >> f.mantissa, mantissa = bits & ((uint64_t{1} << f.mantissa) - 1);
  if (f.uz && bits == sign_bit) return std::nan("");
  if (f.fn && !f.uz && !f.finite && (bits & all) == all) return std::nan("");
  if (!f.fn && biased == exponent_mask) return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
  double fraction =
      static_cast<double>(mantissa) + (biased != 0 ? static_cast<double>(uint64_t{1} << f.mantissa) : 0.0);
  int exponent = (biased != 0 ? static_cast<int>(biased) : 1) - f.bias - f.mantissa;
  return sign * std::ldexp(fraction, exponent);
}

}  // namespace

uint64_t encode_float(DType dtype, double value) {
  if (dtype.bits == 64) return std::bit_cast<uint64_t>(value);
  if (dtype.bits == 32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return encode_small(dtype, value);
}

double decode_float(DType dtype, uint64_t bits) {
  if (dtype.bits == 64) return std::bit_cast<double>(bits);
  if (dtype.bits == 32) return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return decode_small(dtype, bits);
}

}  // namespace relaxc::arith
