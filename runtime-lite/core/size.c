/* size.c: arithmetic on sizes that does not wrap around.
 *
 * A size that does not fit saturates at INT64_MAX, which no memory can satisfy, so one comparison at the end detects
 * every overflow. The product is built from 32-bit halves: on 32-bit targets the compiler's overflow builtin calls a
 * helper that libgcc does not have, and a division costs more than three products. */
#include "guard.h"

int64_t rlx_multiply(int64_t a, int64_t b) {
  const uint64_t x = (uint64_t)a, y = (uint64_t)b;
  const uint64_t x_high = x >> 32, y_high = y >> 32;
  const uint64_t x_low = x & 0xffffffffu, y_low = y & 0xffffffffu;
  if (x_high != 0 && y_high != 0) return INT64_MAX;
  const uint64_t cross = x_high * y_low + y_high * x_low; /* one of the two is 0 */
  if (cross >> 31 != 0) return INT64_MAX;
  const uint64_t product = (cross << 32) + x_low * y_low;
  if (product < cross << 32 || product > (uint64_t)INT64_MAX) return INT64_MAX;
  return (int64_t)product;
}

int64_t rlx_count(const int64_t* dims, int32_t rank) {
  int64_t count = 1;
  for (int32_t axis = 0; axis < rank; ++axis) {
    if (dims[axis] == 0) return 0;
    count = rlx_multiply(count, dims[axis]);
  }
  return count;
}

int64_t rlx_bytes(int64_t count, uint32_t bits) {
  const int64_t total = rlx_multiply(count, (int64_t)bits);
  if (total == INT64_MAX) return -1;
  const int64_t bytes = total / 8 + (total % 8 != 0);
  return bytes > (int64_t)PTRDIFF_MAX ? -1 : bytes;
}

int64_t rlx_stride(const int64_t* strides, const int64_t* dims, int32_t rank, int32_t axis) {
  if (strides != NULL) return strides[axis];
  int64_t stride = 1;
  for (int32_t inner = axis + 1; inner < rank; ++inner)
    if (dims[inner] > 1) stride = rlx_multiply(stride, dims[inner]);
  return stride;
}
