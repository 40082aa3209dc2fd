/* fmod.c: the exact remainder of a division of floats.
 *
 * Long division in integers: each step subtracts the divisor from the dividend's mantissa and gives one bit of the
 * quotient. The result is always representable, so the remainder of floats is computed in double. */
#include "rlx_internal.h"

typedef union word {
  double f;
  uint64_t u;
} word;

static const uint64_t kSign = UINT64_C(1) << 63;

/* Returns the mantissa with its leading bit at 52, and sets the biased exponent for it (below 1 for subnormals). */
static uint64_t normalize(uint64_t bits, int32_t* exponent) {
  uint64_t mantissa = bits & 0xfffffffffffffu;
  *exponent = (int32_t)(bits >> 52);
  if (*exponent != 0) return mantissa | UINT64_C(1) << 52;
  for (*exponent = 1; mantissa >> 52 == 0; --*exponent) mantissa <<= 1;
  return mantissa;
}

double rlx_fmod(double x, double y) {
  const uint64_t infinity = UINT64_C(0x7ff0000000000000);
  word a, b;
  uint64_t sign, rest, divisor;
  int32_t ea, eb;
  a.f = x;
  b.f = y;
  sign = a.u & kSign;
  a.u &= ~kSign;
  b.u &= ~kSign;
  if (b.u == 0 || b.u > infinity || a.u >= infinity) return (x * y) / (x * y); /* NaN */
  if (a.u < b.u) return x;
  if (a.u != 0) {
    rest = normalize(a.u, &ea);
    divisor = normalize(b.u, &eb);
    for (; ea > eb; --ea) {
      if (rest >= divisor) rest -= divisor;
      rest <<= 1;
    }
    if (rest >= divisor) rest -= divisor;
    a.u = 0;
    if (rest != 0) {
      for (; rest >> 52 == 0; --ea) rest <<= 1;
      a.u = ea > 0 ? (rest & 0xfffffffffffffu) | (uint64_t)ea << 52 : rest >> (1 - ea);
    }
  }
  a.u |= sign;
  return a.f;
}

float rlx_fmodf(float x, float y) {
  return (float)rlx_fmod((double)x, (double)y);
}
