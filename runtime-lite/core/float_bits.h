/* float_bits.h: converts between doubles and their bits. */
#ifndef RLX_FLOAT_BITS_H
#define RLX_FLOAT_BITS_H

#include <stdint.h>

static inline uint64_t bits_of(double x) {
  union {
    double f;
    uint64_t u;
  } value;
  value.f = x;
  return value.u;
}

static inline double double_of(uint64_t bits) {
  union {
    uint64_t u;
    double f;
  } value;
  value.u = bits;
  return value.f;
}

#endif
