/* reduce_angle.h: reduces a large angle modulo pi/2 without loss of precision (Payne and Hanek, 1983).
 *
 * An angle is an integer of 53 bits times a power of two. Of its product with 2/pi only the bits around the binary
 * point matter: the ones above are whole turns, the ones far below change nothing. The nearest that a double comes to a
 * multiple of pi/2 is 2^-62; with 224 bits after the point, more than 70 bits of such a rest remain. Only 32-bit and
 * 64-bit integers are used.
 *
 * Valid C99 and C++: relaxc computes with this function and copies it into the C that it writes. */
#ifndef RLX_REDUCE_ANGLE_H
#define RLX_REDUCE_ANGLE_H

#include <stdint.h>

/* The double with these bits, finite and at least 2^32 in magnitude, is (4 k + quadrant) pi/2 + what is returned. */
static double rlx_reduce_angle(uint64_t bits, double* quadrant) {
  static const uint32_t two_over_pi[39] = {
      0u,          0u,          0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
      0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu,
      0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu,
      0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du,
      0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u};
  const uint64_t word = 0xffffffffu;
  const uint64_t mantissa = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(0x10000000000000);
  const uint32_t position = (uint32_t)((bits >> 52u) & 0x7ffu) - 1043u;
  const uint32_t first = position / 32u;
  const uint32_t shift = position % 32u;
  const uint32_t back = 32u - shift;
  const uint64_t factor[3] = {(mantissa << shift) & word, (mantissa >> back) & word, (mantissa >> back) >> 32u};
  uint64_t sum[8] = {0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u}; /* words, the whole part first */
  uint64_t negative = bits >> 63u;
  double scale = 1.0842021724855044e-19; /* 2^-63 */
  for (uint32_t i = 0u; i < 3u; i++) {
    uint64_t carry = 0u;
    for (uint32_t k = 8u; k > i; k--) {
      const uint64_t part = (factor[i] * two_over_pi[(first + k) - 1u]) + sum[(k - 1u) - i] + carry;
      sum[(k - 1u) - i] = part & word;
      carry = part >> 32u;
    }
  }
  uint64_t quarter = sum[0];
  uint64_t top = (sum[1] << 32u) | sum[2];
  uint64_t next = (sum[3] << 32u) | sum[4];
  if ((top >> 63u) != 0u) { /* nearer to the next multiple */
    quarter++;
    top = ~top;
    next = ~next;
    negative ^= 1u;
  }
  for (uint32_t i = 0u; (i < 127u) && ((top >> 63u) == 0u); i++) {
    top = (top << 1u) | (next >> 63u);
    next <<= 1u;
    scale *= 0.5;
  }
  /* times pi/2, of which these are the first 64 bits: the upper half of the product */
  const uint64_t middle = ((top >> 32u) * 0x2168c234u) + (((top & word) * 0x2168c234u) >> 32u);
  const uint64_t cross = ((top & word) * 0xc90fdaa2u) + (middle & word);
  const double rest = (double)(((top >> 32u) * 0xc90fdaa2u) + (middle >> 32u) + (cross >> 32u)) * scale;
  if ((bits >> 63u) != 0u) {
    quarter = 4u - (quarter & 3u);
  }
  *quadrant = (double)(quarter & 3u);
  return (negative != 0u) ? -rest : rest;
}

#endif
