/* multi3.c: a 128-bit product, by which 64-bit multiplications are checked for overflow. Compilers usually bring this
 * function in a library; those for WebAssembly often do not. */
#include "relax_rt.h"

#if defined(__wasm__)

/* The low and the high half, in the order of the calling convention. */
typedef union product {
  __int128 whole;
  uint64_t half[2];
} product;

__int128 __multi3(__int128 a, __int128 b);

__attribute__((weak)) __int128 __multi3(__int128 a, __int128 b) {
  const product x = {a}, y = {b};
  const uint64_t mask = 0xffffffff;
  const uint64_t x0 = x.half[0] & mask, x1 = x.half[0] >> 32, y0 = y.half[0] & mask, y1 = y.half[0] >> 32;
  const uint64_t low = x0 * y0, middle = x1 * y0 + (low >> 32), other = x0 * y1 + (middle & mask);
  product result;
  result.half[0] = (other << 32) | (low & mask);
  result.half[1] = x1 * y1 + (middle >> 32) + (other >> 32) + x.half[0] * y.half[1] + x.half[1] * y.half[0];
  return result.whole;
}

#endif
