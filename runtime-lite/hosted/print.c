/* print.c: writes R.print's output to the standard output.
 *
 * A tensor is printed as dtype, shape and elements, nested as in Python. If it has more than kMost elements, each axis
 * shows its first and last kEdge, as in NumPy. A float has as few digits as distinguish it from its neighbours. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relax_rt.h"

enum { kMost = 1000, kEdge = 3 };

/* A floating-point format: bits of exponent and mantissa, and the meaning of special bit patterns. */
typedef struct float_format {
  int exponent_bits, mantissa_bits, bias;
  int has_infinity; /* 1: as IEEE has it; 0: only the mantissa of all ones is NaN; -1: only the negative zero is;
                       2: there is no NaN either */
} float_format;

static double power_of_two(int exponent) {
  double result = 1;
  for (; exponent > 0; --exponent) result *= 2;
  for (; exponent < 0; ++exponent) result /= 2;
  return result;
}

static double from_bits(uint32_t bits, float_format f) {
  uint32_t mantissa = bits & ((1U << f.mantissa_bits) - 1), most = (1U << f.exponent_bits) - 1;
  uint32_t exponent = (bits >> f.mantissa_bits) & most;
  const uint32_t negative = bits >> (f.exponent_bits + f.mantissa_bits) & 1;
  const double zero = 0, sign = negative ? -1 : 1;
  if (f.has_infinity == 1 && exponent == most) return mantissa ? zero / zero : sign / zero;
  if (f.has_infinity == 0 && exponent == most && mantissa == (1U << f.mantissa_bits) - 1) return zero / zero;
  if (f.has_infinity == -1 && negative && !exponent && !mantissa) return zero / zero;
  if (exponent == 0) return sign * (double)mantissa * power_of_two(1 - f.bias - f.mantissa_bits);
  return sign * (double)(mantissa | 1U << f.mantissa_bits) * power_of_two((int)exponent - f.bias - f.mantissa_bits);
}

static double magnitude(double x) {
  return x < 0 ? -x : x;
}

/* Returns half the distance from `value` to its nearest neighbour among numbers of `significant_bits` bits. */
static double half_step(double value, int significant_bits) {
  double unit = 1;
  while (unit > value) unit /= 2;
  while (unit <= value / 2) unit *= 2;
  return unit * power_of_two(-significant_bits - (unit == value));
}

/* Prints the fewest digits that are nearer to `value` than to any other number of `significant_bits` bits. */
static void print_float(double value, int significant_bits) {
  char text[40];
  int digits;
  double close;
  if (value != value) {
    fputs("nan", stdout);
    return;
  }
  if (value - value != 0) {
    fputs(value < 0 ? "-inf" : "inf", stdout);
    return;
  }
  if (magnitude(value) < 1e16 && value == (double)(int64_t)value) {
    printf("%.1f", value);
    return;
  }
  close = half_step(magnitude(value), significant_bits);
  for (digits = 1; digits <= 17; ++digits) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (magnitude(strtod(text, NULL) - value) < close || strtod(text, NULL) == value) break;
  }
  fputs(text, stdout);
}

static int64_t integer_at(const uint8_t* at, size_t bytes, int is_signed) {
  uint64_t bits = 0;
  memcpy(&bits, at, bytes); /* little-endian hosts only, like everything that is mapped */
  if (is_signed && bytes < 8 && bits >> (8 * bytes - 1)) bits |= ~UINT64_C(0) << (8 * bytes);
  return (int64_t)bits;
}

static void print_real(const uint8_t* at, uint8_t code, size_t bytes) {
  static const float_format kHalf = {5, 10, 15, 1}, kBrain = {8, 7, 127, 1}, kE4M3 = {4, 3, 7, 0},
                            kE4M3Z = {4, 3, 8, -1}, kE5M2 = {5, 2, 15, 1}, kE5M2Z = {5, 2, 16, -1},
                            kE2M1 = {2, 1, 1, 2};
  const uint32_t bits = bytes <= 2 ? (uint32_t)integer_at(at, bytes, 0) : 0;
  if (bytes == 8) {
    double value;
    memcpy(&value, at, sizeof value);
    print_float(value, 53);
  } else if (bytes == 4) {
    float value;
    memcpy(&value, at, sizeof value);
    print_float((double)value, 24);
  } else if (bytes == 2) {
    print_float(from_bits(bits, code == 4 ? kBrain : kHalf), code == 4 ? 8 : 11);
  } else if (code == 14) {
    const double zero = 0;
    print_float(bits == 255 ? zero / zero : power_of_two((int)bits - 127), 1);
  } else {
    const float_format f = code == 17 ? kE2M1 : code == 10 ? kE4M3 : code == 11 ? kE4M3Z : code == 12 ? kE5M2 : kE5M2Z;
    print_float(from_bits(bits, f), f.mantissa_bits + 1);
  }
}

static void print_element(const rlx_tensor* t, int64_t index) {
  const size_t bytes = ((size_t)t->dtype_bits + 7) / 8;
  const uint8_t* at = (const uint8_t*)t->data + t->byte_offset + (size_t)index * bytes;
  switch (t->dtype_code) {
    case 0:
      printf("%lld", (long long)integer_at(at, bytes, 1));
      return;
    case 1:
      printf("%llu", (unsigned long long)integer_at(at, bytes, 0));
      return;
    case 5:
      putchar('(');
      print_real(at, 2, bytes / 2);
      fputs(", ", stdout);
      print_real(at + bytes / 2, 2, bytes / 2);
      putchar(')');
      return;
    case 6:
      fputs(*at ? "True" : "False", stdout);
      return;
    case 2:
    case 4:
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
    case 17:
      print_real(at, t->dtype_code, bytes);
      return;
    default:
      putchar('?');
  }
}

/* Prints the elements of `axis` and the following axes from `first` on; together they have `stride` elements. */
static void print_axis(const rlx_tensor* t, int32_t axis, int64_t first, int64_t stride, int abridged) {
  int64_t i;
  if (axis == t->ndim) {
    print_element(t, first);
    return;
  }
  stride = t->shape[axis] > 0 ? stride / t->shape[axis] : 0;
  putchar('[');
  for (i = 0; i < t->shape[axis]; ++i) {
    if (i > 0) fputs(", ", stdout);
    if (abridged && i == kEdge && t->shape[axis] > 2 * kEdge) {
      fputs("..., ", stdout);
      i = t->shape[axis] - kEdge;
    }
    print_axis(t, axis + 1, first + i * stride, stride, abridged);
  }
  putchar(']');
}

static void print_dtype(const rlx_tensor* t) {
  static const char* const kFloat8[] = {"e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu"};
  switch (t->dtype_code) {
    case 0:
    case 1:
      printf("%sint%d", t->dtype_code == 1 ? "u" : "", t->dtype_bits);
      return;
    case 2:
      printf("float%d", t->dtype_bits);
      return;
    case 4:
      fputs("bfloat16", stdout);
      return;
    case 5:
      printf("complex%d", t->dtype_bits);
      return;
    case 6:
      fputs("bool", stdout);
      return;
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
      printf("float8_%s", kFloat8[t->dtype_code - 10]);
      return;
    case 17:
      fputs("float4_e2m1fn", stdout);
      return;
    default:
      printf("dtype_%d", t->dtype_code);
  }
}

static int64_t elements_of(const rlx_tensor* t) {
  int64_t count = 1;
  int32_t axis;
  for (axis = 0; axis < t->ndim; ++axis) count *= t->shape[axis];
  return count;
}

int32_t rlx_print(rlx_context* context, const rlx_tensor* text, const rlx_tensor* value, int64_t kind) {
  int32_t axis;
  (void)context;
  if (text->shape[0] > 0) fwrite((const char*)text->data + text->byte_offset, 1, (size_t)text->shape[0], stdout);
  if (kind == RLX_PRINT_TENSOR) {
    print_dtype(value);
    putchar('[');
    for (axis = 0; axis < value->ndim; ++axis) printf("%s%lld", axis ? ", " : "", (long long)value->shape[axis]);
    fputs("] ", stdout);
  }
  if (kind != RLX_PRINT_NOTHING) print_axis(value, 0, 0, elements_of(value), elements_of(value) > kMost);
  return RLX_OK;
}
