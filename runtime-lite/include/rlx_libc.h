/* rlx_libc.h: the functions of <math.h> and <string.h> that emitted C needs, also without these headers.
 *
 * If the compiler targets a hosted system and has the headers, they are included. Otherwise the few functions are
 * defined here: as instructions if the CPU has them, else as functions of runtime-lite/core, so that a program for a
 * board needs no libm. They round as IEEE 754 defines it, in the rounding mode to nearest. */
#ifndef RLX_LIBC_H
#define RLX_LIBC_H

#include <stddef.h>
#include <stdint.h>

#if defined(__STDC_HOSTED__) && (__STDC_HOSTED__ == 0)
#define RLX_FREESTANDING
#elif defined(__has_include)
#if !__has_include(<math.h>) || !__has_include(<string.h>)
#define RLX_FREESTANDING
#endif
#endif

#ifndef RLX_FREESTANDING
#include <math.h>
#include <string.h>
#else

#ifdef __cplusplus
extern "C" {
#endif

void* memcpy(void* to, const void* from, size_t bytes);
void* memmove(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);

/* runtime-lite/core */
double rlx_fmod(double x, double y);
float rlx_fmodf(float x, float y);
double rlx_fma(double x, double y, double z);
float rlx_fmaf(float x, float y, float z);
double rlx_sqrt(double x);
float rlx_sqrtf(float x);

#define fmod(x, y)  rlx_fmod((x), (y))
#define fmodf(x, y) rlx_fmodf((x), (y))

#if defined(__GNUC__)
#define NAN             __builtin_nanf("")
#define INFINITY        __builtin_inff()
#define isnan(x)        __builtin_isnan(x)
#define isinf(x)        __builtin_isinf(x)
#define fabs(x)         __builtin_fabs(x)
#define fabsf(x)        __builtin_fabsf(x)
#define copysign(x, y)  __builtin_copysign((x), (y))
#define copysignf(x, y) __builtin_copysignf((x), (y))
#else
#define INFINITY        ((float)1e300)
#define NAN             (-(INFINITY * 0.0f))
#define isnan(x)        ((x) != (x))
#define isinf(x)        (((x) == (x)) && (((x) - (x)) != ((x) - (x))))
#define fabs(x)         rlx_abs_of(x)
#define fabsf(x)        rlx_abs_of_f(x)
#define copysign(x, y)  rlx_signed_as((x), (y))
#define copysignf(x, y) rlx_signed_as_f((x), (y))
static inline double rlx_signed_as(double x, double y) {
  union {
    double value;
    uint64_t bits;
  } a, b;
  a.value = x;
  b.value = y;
  a.bits = (a.bits & (UINT64_MAX >> 1)) | (b.bits & (UINT64_C(1) << 63));
  return a.value;
}
static inline float rlx_signed_as_f(float x, float y) {
  union {
    float value;
    uint32_t bits;
  } a, b;
  a.value = x;
  b.value = y;
  a.bits = (a.bits & 0x7fffffffu) | (b.bits & 0x80000000u);
  return a.value;
}
static inline double rlx_abs_of(double x) {
  return rlx_signed_as(x, 0.0);
}
static inline float rlx_abs_of_f(float x) {
  return rlx_signed_as_f(x, 0.0f);
}
#endif

/* The CPU's fused multiply-add; GCC and clang emit the instruction whether or not errno is needed. */
#if defined(__aarch64__) || (defined(__x86_64__) && defined(__FMA__)) || \
    (defined(__riscv_flen) && (__riscv_flen >= 64)) ||                   \
    (defined(__ARM_FEATURE_FMA) && defined(__ARM_FP) && ((__ARM_FP & 8) != 0))
#define fma(x, y, z) __builtin_fma((x), (y), (z))
#else
#define fma(x, y, z) rlx_fma((x), (y), (z))
#endif
#if defined(__aarch64__) || (defined(__x86_64__) && defined(__FMA__)) || defined(__riscv_flen) || \
    (defined(__ARM_FEATURE_FMA) && defined(__ARM_FP) && ((__ARM_FP & 4) != 0))
#define fmaf(x, y, z) __builtin_fmaf((x), (y), (z))
#else
#define fmaf(x, y, z) rlx_fmaf((x), (y), (z))
#endif

/* GCC and clang emit an instruction for square roots only without errno: -fno-math-errno. */
#if defined(__NO_MATH_ERRNO__) &&                                                                      \
    (defined(__aarch64__) || defined(__x86_64__) || (defined(__riscv_flen) && (__riscv_flen >= 64)) || \
     (defined(__ARM_FP) && ((__ARM_FP & 8) != 0)))
#define sqrt(x) __builtin_sqrt(x)
#else
#define sqrt(x) rlx_sqrt(x)
#endif
#if defined(__NO_MATH_ERRNO__) && (defined(__aarch64__) || defined(__x86_64__) || defined(__riscv_flen) || \
                                   (defined(__ARM_FP) && ((__ARM_FP & 4) != 0)))
#define sqrtf(x) __builtin_sqrtf(x)
#else
#define sqrtf(x) rlx_sqrtf(x)
#endif

/* Floats from 2^23 on and doubles from 2^52 on are whole; NaN fails the comparison and is returned. */
static inline float rlx_whole_f(float x) {
  return (fabsf(x) < 8388608.0f) ? copysignf((float)(int32_t)x, x) : x;
}
static inline double rlx_whole(double x) {
  return (fabs(x) < 4503599627370496.0) ? copysign((double)(int64_t)x, x) : x;
}
static inline float rlx_floor_of_f(float x) {
  const float cut = rlx_whole_f(x);
  return (cut > x) ? (cut - 1.0f) : cut;
}
static inline double rlx_floor_of(double x) {
  const double cut = rlx_whole(x);
  return (cut > x) ? (cut - 1.0) : cut;
}
static inline float rlx_ceil_of_f(float x) {
  const float cut = rlx_whole_f(x);
  return (cut < x) ? copysignf(cut + 1.0f, x) : cut;
}
static inline double rlx_ceil_of(double x) {
  const double cut = rlx_whole(x);
  return (cut < x) ? copysign(cut + 1.0, x) : cut;
}
static inline float rlx_nearest_f(float x) {
  const float size = fabsf(x);
  return (size < 8388608.0f) ? copysignf((size + 8388608.0f) - 8388608.0f, x) : x;
}
static inline double rlx_nearest(double x) {
  const double size = fabs(x);
  return (size < 4503599627370496.0) ? copysign((size + 4503599627370496.0) - 4503599627370496.0, x) : x;
}
#define trunc(x)  rlx_whole(x)
#define truncf(x) rlx_whole_f(x)
#define floor(x)  rlx_floor_of(x)
#define floorf(x) rlx_floor_of_f(x)
#define ceil(x)   rlx_ceil_of(x)
#define ceilf(x)  rlx_ceil_of_f(x)
#define rint(x)   rlx_nearest(x)
#define rintf(x)  rlx_nearest_f(x)

#ifdef __cplusplus
}
#endif

#endif

#endif
