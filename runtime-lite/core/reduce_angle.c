/* reduce_angle.c: the first step of sin, cos and tan for large angles. Code calls it only if it finds such an angle. */
#include "reduce_angle.h"

#include "float_bits.h"
#include "rlx_internal.h"

void rlx_reduce_angles(int32_t count, const double* x, double* rest, double* quadrant) {
  int32_t i;
  for (i = 0; i < count; ++i) {
    const uint64_t bits = bits_of(x[i]), magnitude = bits & ~(UINT64_C(1) << 63);
    if (magnitude >= UINT64_C(0x41f0000000000000) && magnitude < UINT64_C(0x7ff0000000000000))
      rest[i] = rlx_reduce_angle(bits, &quadrant[i]);
  }
}
