/* fma.c: x * y + z with one rounding, for CPUs without such an instruction.
 *
 * A libm would need errno and rounding modes. The product of two 53-bit numbers fits 106 bits; here it and the addend
 * are 128-bit numbers with the leading bit near the top. The smaller one is shifted right, and bits that are lost are
 * kept as one sticky bit. Nothing is lost if the two nearly cancel, so the result is exact up to the final rounding. */
#include "float_bits.h"
#include "rlx_internal.h"

typedef struct wide {
  uint64_t high, low;
} wide;

typedef struct parts {
  uint64_t mantissa; /* leading bit at 52 */
  int32_t exponent;  /* of bit 0 */
  uint32_t negative;
} parts;

static parts unpack(double x) {
  const uint64_t bits = bits_of(x);
  parts out = {bits & 0xfffffffffffffu, (int32_t)(bits >> 52 & 0x7ffu), (uint32_t)(bits >> 63)};
  if (out.exponent != 0)
    out.mantissa |= UINT64_C(1) << 52;
  else
    out.exponent = 1;
  out.exponent -= 1075;
  while (out.mantissa >> 52 == 0) {
    out.mantissa <<= 1;
    --out.exponent;
  }
  return out;
}

static wide multiply(uint64_t a, uint64_t b) {
  const uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  const uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), cross = a0 * b1 + (middle & 0xffffffffu);
  wide out;
  out.high = a1 * b1 + (middle >> 32) + (cross >> 32);
  out.low = cross << 32 | (low & 0xffffffffu);
  return out;
}

static wide shift_left(wide x, int32_t by) { /* 0 < by < 128 */
  wide out;
  out.high = by >= 64 ? x.low << (by - 64) : x.high << by | x.low >> (64 - by);
  out.low = by >= 64 ? 0 : x.low << by;
  return out;
}

static wide shift_right_sticky(wide x, int32_t by) {
  wide out = {0, (x.high | x.low) != 0};
  if (by == 0) return x;
  if (by >= 128) return out;
  if (by >= 64) {
    const uint64_t lost = x.low | (by == 64 ? 0 : x.high << (128 - by));
    out.low = (by == 64 ? x.high : x.high >> (by - 64)) | (lost != 0);
  } else {
    out.high = x.high >> by;
    out.low = x.high << (64 - by) | x.low >> by | (x.low << (64 - by) != 0);
  }
  return out;
}

static int less(wide a, wide b) {
  return a.high < b.high || (a.high == b.high && a.low < b.low);
}

static wide add(wide a, wide b) {
  wide out;
  out.low = a.low + b.low;
  out.high = a.high + b.high + (out.low < a.low);
  return out;
}

static wide subtract(wide a, wide b) {
  wide out;
  out.low = a.low - b.low;
  out.high = a.high - b.high - (a.low < b.low);
  return out;
}

/* Returns the double nearest to x * 2^exponent, ties to even; x must not be 0. */
static double round_once(wide x, int32_t exponent, uint32_t negative) {
  uint64_t top, mantissa, rest;
  const uint64_t sign = (uint64_t)negative << 63;
  int32_t biased;
  while (x.high >> 63 == 0) {
    const int32_t by = x.high == 0 ? 64 : 1;
    x = shift_left(x, by);
    exponent -= by;
  }
  top = x.high | (x.low != 0);
  biased = exponent + 127 + 1023;
  if (biased < 1) {
    const int32_t by = 1 - biased;
    top = by >= 64 ? 1 : top >> by | (top << (64 - by) != 0);
    biased = 1;
  }
  mantissa = top >> 11;
  rest = top & 2047;
  if (rest > 1024 || (rest == 1024 && (mantissa & 1) != 0)) ++mantissa;
  if (biased > 2046) return double_of(sign | UINT64_C(0x7ff0000000000000));
  return double_of(sign | (((uint64_t)(biased - 1) << 52) + mantissa));
}

double rlx_fma(double x, double y, double z) {
  const uint64_t special = UINT64_C(0x7ff0000000000000);
  parts px, py, pz;
  wide product, addend;
  int32_t exponent, distance;
  uint32_t negative;
  if ((bits_of(x) & special) == special || (bits_of(y) & special) == special) return x * y + z;
  if ((bits_of(z) & special) == special) return z; /* also if x * y would overflow */
  if (x == 0 || y == 0) return x * y + z;
  if (z == 0) return x * y;
  px = unpack(x);
  py = unpack(y);
  pz = unpack(z);
  product = shift_left(multiply(px.mantissa, py.mantissa), 20); /* leading bit at 124 or 125 */
  addend.high = pz.mantissa << 8;                               /* leading bit at 124 */
  addend.low = 0;
  negative = px.negative ^ py.negative;
  exponent = px.exponent + py.exponent - 20;
  distance = exponent - (pz.exponent - 72);
  if (distance >= 0) {
    addend = shift_right_sticky(addend, distance > 200 ? 200 : distance);
  } else {
    product = shift_right_sticky(product, distance < -200 ? 200 : -distance);
    exponent = pz.exponent - 72;
  }
  if (negative == pz.negative) return round_once(add(product, addend), exponent, negative);
  if (less(product, addend)) return round_once(subtract(addend, product), exponent, pz.negative);
  product = subtract(product, addend);
  return (product.high | product.low) == 0 ? 0.0 : round_once(product, exponent, negative);
}

/* The product is exact in double. If the sum is not, its last bit is made odd, so that the second rounding is right.
 */
float rlx_fmaf(float x, float y, float z) {
  const double product = (double)x * (double)y, sum = product + (double)z;
  const double of_addend = sum - product;
  const double error = (product - (sum - of_addend)) + ((double)z - of_addend);
  uint64_t bits = bits_of(sum);
  if (error != 0 && error == error && (bits & 1) == 0) bits += ((error > 0) == (sum > 0)) ? 1 : UINT64_MAX;
  return (float)double_of(bits);
}
