/* angles_reference.c: outputs of sin, cos and tan next to long double's.
 *
 * angles_reference DTYPE X Y BOUND: the worst error in units of the last place of the dtype; fails beyond BOUND.
 * angles_reference print X: sin, cos and tan of doubles, rounded to double. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct format {
  const char* name;
  size_t size;
  int digits, least, most; /* of the mantissa; exponents of normal numbers */
} format;

static const format kFormats[] = {{"float16", 2, 11, -14, 15},
                                  {"bfloat16", 2, 8, -126, 127},
                                  {"float32", 4, 24, -126, 127},
                                  {"float64", 8, 53, -1022, 1023}};

static double element(const format* f, const unsigned char* at) {
  double d;
  float s;
  uint16_t half;
  if (f->size == 8) {
    memcpy(&d, at, 8);
    return d;
  }
  if (f->size == 4) {
    memcpy(&s, at, 4);
    return s;
  }
  memcpy(&half, at, 2);
  if (f->digits == 8) {
    uint32_t bits = (uint32_t)half << 16;
    memcpy(&s, &bits, 4);
    return s;
  }
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  d = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
      : exponent == 0 ? ldexp(fraction, -24)
                      : ldexp(1024 + fraction, exponent - 25);
  return half >> 15 ? -d : d;
}

static double error_of(const format* f, double found, long double right) {
  int exponent;
  if (isnan(right) || isnan(found)) return isnan(right) && isnan(found) ? 0 : INFINITY;
  if (right == 0) return found == 0 && !signbit(found) == !signbit(right) ? 0 : INFINITY;
  (void)frexpl(right, &exponent);
  exponent = exponent - 1 < f->least ? f->least : exponent - 1;
  const long double unit = ldexpl(1, exponent - f->digits + 1);
  if (isinf(found)) return (double)((ldexpl(1, f->most + 1) - fabsl(right)) / unit);
  return (double)(fabsl(found - right) / unit);
}

static unsigned char* content(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) exit(3);
  (void)fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char* data = malloc(*size + 1);
  if (data == NULL || fread(data, 1, *size, file) != *size) exit(4);
  (void)fclose(file);
  return data;
}

int main(int argc, char** argv) {
  long double (*const kRight[3])(long double) = {sinl, cosl, tanl};
  static const char* const kNames[3] = {"sin", "cos", "tan"};
  size_t bytes, written;
  const unsigned char* x = content(argv[2], &bytes);
  if (argc == 3) {
    for (size_t i = 0; i < bytes / 8; i++) {
      const double at = element(&kFormats[3], x + 8 * i);
      printf("%a %a %a\n", (double)sinl(at), (double)cosl(at), (double)tanl(at));
    }
    return 0;
  }
  const format* f = kFormats;
  while (strcmp(f->name, argv[1]) != 0) ++f;
  const unsigned char* y = content(argv[3], &written);
  if (written != 3 * bytes) return 5;
  int failed = 0;
  for (int k = 0; k < 3; k++) {
    double worst = 0, where = 0;
    for (size_t at = 0; at < bytes; at += f->size) {
      const double in = element(f, x + at), error = error_of(f, element(f, y + (size_t)k * bytes + at), kRight[k](in));
      if (error > worst) worst = error, where = in;
    }
    printf("%s of %s at %zu arguments: at most %.3f ULP, at %a\n", kNames[k], f->name, bytes / f->size, worst, where);
    failed |= !(worst <= atof(argv[4]));
  }
  return failed;
}
