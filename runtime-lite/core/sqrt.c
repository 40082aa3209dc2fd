/* sqrt.c: square roots for CPUs without such an instruction.
 *
 * Digit by digit, as in long-hand arithmetic: 54 binary digits of the root of an integer, of which the last decides the
 * rounding. A root of 54 digits that ends in 1 is never exact, since its square would be odd: there are no ties. */
#include "float_bits.h"
#include "rlx_internal.h"

double rlx_sqrt(double x) {
  const uint64_t leading = UINT64_C(1) << 52, infinity = UINT64_C(0x7ff) << 52, bits = bits_of(x);
  uint64_t mantissa = bits & (leading - 1), rest = 0, root = 0;
  int32_t exponent = (int32_t)(bits >> 52 & 0x7ffu) - 1023;
  int pair;
  if (bits << 1 == 0 || (bits & ~(UINT64_C(1) << 63)) > infinity || bits == infinity) return x;
  if (bits >> 63 != 0) return double_of(infinity | leading >> 1); /* NaN */
  if (exponent == -1023) {
    for (exponent = -1022; mantissa < leading; --exponent) mantissa <<= 1;
  } else {
    mantissa |= leading;
  }
  if ((exponent & 1) != 0) {
    mantissa <<= 1;
    --exponent;
  }
  for (pair = 26; pair >= -27; --pair) { /* two digits of mantissa * 2^54, which has 108 */
    rest = rest << 2 | (pair >= 0 ? mantissa >> (2 * pair) & 3 : 0);
    root <<= 1;
    if (rest > root << 1) {
      rest -= (root << 1) + 1;
      ++root;
    }
  }
  return double_of(((uint64_t)(exponent / 2 + 1022) << 52) + ((root + 1) >> 1));
}

/* Rounding twice is harmless: the root of a float either has few digits or has more than a double holds. */
float rlx_sqrtf(float x) {
  return (float)rlx_sqrt((double)x);
}
