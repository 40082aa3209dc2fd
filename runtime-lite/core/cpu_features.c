/* cpu_features.c: finds the features of this CPU, for objects that contain a kernel in several versions.
 *
 * On x86, cpuid describes the CPU and XCR0 the operating system: a register that the system does not save is not
 * usable, however new the CPU. On 64-bit ARM under Linux, the kernel tells (getauxval), if there is a C library: the
 * reference is weak. Elsewhere user code may not read the identification registers, so the result is what the runtime
 * was compiled for; a program that knows better sets context.cpu_features. The result is not cached, since that would
 * need a global. */
#include "relax_rt.h"

#if defined(__x86_64__) || defined(__i386__)

typedef struct cpuid_words {
  uint32_t a, b, c, d;
} cpuid_words;

static cpuid_words ask(uint32_t leaf, uint32_t subleaf) {
  cpuid_words words;
  __asm__ volatile("cpuid" : "=a"(words.a), "=b"(words.b), "=c"(words.c), "=d"(words.d) : "a"(leaf), "c"(subleaf));
  return words;
}

/* The register states that the operating system saves: bits 1-2 for AVX, 5-7 for AVX-512. */
static uint32_t saved_states(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  (void)high;
  return low;
}

static int bit(uint32_t word, int index) {
  return (int)(word >> index & 1u);
}

uint64_t rlx_cpu_features(void) {
  uint64_t features = RLX_CPU_KNOWN;
  const uint32_t leaves = ask(0, 0).a;
  const cpuid_words base = ask(1, 0);
  const uint32_t sse42 = 1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23; /* and all before it, POPCNT */
  if ((base.c & sse42) == sse42) features |= RLX_CPU_SSE42;
  const uint32_t states = bit(base.c, 27) ? saved_states() : 0;
  if ((states & 0x6u) != 0x6u || leaves < 7) return features;
  const cpuid_words more = ask(7, 0);
  if (bit(base.c, 12)) features |= RLX_CPU_FMA;
  if (bit(base.c, 29)) features |= RLX_CPU_F16C;
  if (bit(more.b, 5)) features |= RLX_CPU_AVX2;
  const int lzcnt = ask(0x80000000u, 0).a > 0x80000000u && bit(ask(0x80000001u, 0).c, 5);
  if (bit(more.b, 3) && bit(more.b, 8) && bit(base.c, 22) && lzcnt) features |= RLX_CPU_BMI;
  if (more.a >= 1 && bit(ask(7, 1).a, 4)) features |= RLX_CPU_AVX_VNNI;
  const uint32_t avx512 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31; /* F, DQ, CD, BW, VL */
  if ((states & 0xe6u) != 0xe6u || (more.b & avx512) != avx512) return features;
  features |= RLX_CPU_AVX512;
  if (bit(more.c, 11)) features |= RLX_CPU_AVX512_VNNI;
  return features;
}

#else

#if defined(__aarch64__) && defined(__linux__)
extern unsigned long getauxval(unsigned long type) __attribute__((weak));

static uint64_t features_from_kernel(void) {
  if (getauxval == NULL) return 0;
  const unsigned long first = getauxval(16), second = getauxval(26); /* AT_HWCAP, AT_HWCAP2 */
  uint64_t features = 0;
  if (first >> 1 & 1u) features |= RLX_CPU_NEON;
  if (first >> 20 & 1u) features |= RLX_CPU_DOTPROD;
  if (first >> 22 & 1u) features |= RLX_CPU_SVE;
  if ((first >> 9 & 1u) && (first >> 10 & 1u)) features |= RLX_CPU_FP16;
  if (second >> 13 & 1u) features |= RLX_CPU_I8MM;
  return features;
}
#endif

uint64_t rlx_cpu_features(void) {
  uint64_t features = RLX_CPU_KNOWN;
#if defined(__ARM_NEON)
  features |= RLX_CPU_NEON;
#endif
#if defined(__ARM_FEATURE_DOTPROD)
  features |= RLX_CPU_DOTPROD;
#endif
#if defined(__ARM_FEATURE_MATMUL_INT8)
  features |= RLX_CPU_I8MM;
#endif
#if defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
  features |= RLX_CPU_FP16;
#endif
#if defined(__ARM_FEATURE_SVE)
  features |= RLX_CPU_SVE;
#endif
#if defined(__aarch64__) && defined(__linux__)
  features |= features_from_kernel();
#endif
  return features;
}

#endif
