/* memory.c: the memory functions that compilers call on their own, for programs without a C library.
 *
 * All are weak, so definitions in the program take precedence. They are a library of their own (relax_rt_memory), since
 * a linker would find a memcpy in relax_rt before the C library's faster one. They copy words if both addresses are
 * aligned, else bytes: small code comes first here, but padding copies whole tensors. Compilers replace such loops by
 * calls of these very functions, whatever the flags (GCC at -O2 without -ffreestanding does so in memset), but never
 * loops of volatile stores. Arm moves four words by two instructions: rows of a padded image take a third of the time
 * that they take word by word. Link-time optimization must keep them, since only code generated later calls them.
 */
#include <stddef.h>
#include <stdint.h>

#define RLX_WEAK __attribute__((weak, used))

void* memcpy(void* to, const void* from, size_t bytes);
void* memmove(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);

#if defined(__GNUC__) && defined(__arm__)
#define RLX_ARM
#endif
#if defined(__GNUC__)
typedef uint32_t __attribute__((may_alias)) rlx_word;
#else
typedef uint32_t rlx_word;
#endif

RLX_WEAK void* memcpy(void* to, const void* from, size_t bytes) {
  volatile uint8_t* target = (volatile uint8_t*)to;
  const uint8_t* source = (const uint8_t*)from;
  if ((((uintptr_t)to | (uintptr_t)from) & 3U) == 0) {
#if defined(RLX_ARM)
    for (; bytes >= 16; bytes -= 16)
      __asm__ volatile("ldmia %1!, {r3, r4, r5, r6}\n\tstmia %0!, {r3, r4, r5, r6}"
                       : "+l"(target), "+l"(source)
                       :
                       : "r3", "r4", "r5", "r6", "memory");
#endif
    for (; bytes >= 4; bytes -= 4, target += 4, source += 4)
      *(volatile rlx_word*)(volatile void*)target = *(const rlx_word*)(const void*)source;
  }
  while (bytes-- != 0) *target++ = *source++;
  return to;
}

RLX_WEAK void* memmove(void* to, const void* from, size_t bytes) {
  volatile uint8_t* target = (volatile uint8_t*)to;
  const uint8_t* source = (const uint8_t*)from;
  if ((uintptr_t)to <= (uintptr_t)from) {
    while (bytes-- != 0) *target++ = *source++;
  } else {
    while (bytes-- != 0) target[bytes] = source[bytes];
  }
  return to;
}

RLX_WEAK void* memset(void* to, int value, size_t bytes) {
  volatile uint8_t* target = (volatile uint8_t*)to;
  if (((uintptr_t)to & 3U) == 0) {
    const rlx_word word = (uint32_t)(uint8_t)value * 0x01010101U;
#if defined(RLX_ARM)
    register rlx_word a __asm__("r3") = word, b __asm__("r4") = word, c __asm__("r5") = word, d __asm__("r6") = word;
    for (; bytes >= 16; bytes -= 16)
      __asm__ volatile("stmia %0!, {r3, r4, r5, r6}" : "+l"(target) : "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
#endif
    for (; bytes >= 4; bytes -= 4, target += 4) *(volatile rlx_word*)(volatile void*)target = word;
  }
  while (bytes-- != 0) *target++ = (uint8_t)value;
  return to;
}

#if defined(__APPLE__)
/* Apple's compilers call this for a memset of zeros. */
void bzero(void* to, size_t bytes);
RLX_WEAK void bzero(void* to, size_t bytes) {
  (void)memset(to, 0, bytes);
}
#endif

#if defined(_WIN32) && defined(__x86_64__)
/* Objects with floating-point code refer to this symbol, which Microsoft's C library defines. */
extern const int _fltused;
const int _fltused = 0x9875;
#endif

#if defined(__ARM_EABI__)

/* From the run-time ABI for the Arm architecture, section 4.3.4. The suffixes 4 and 8 are the alignment that the caller
 * promises; memset has its size before its value. */
#define RLX_AEABI_COPY(name, via)                                \
  void name(void* to, const void* from, size_t bytes);           \
  RLX_WEAK void name(void* to, const void* from, size_t bytes) { \
    (void)via(to, from, bytes);                                  \
  }
#define RLX_AEABI_SET(name)                               \
  void name(void* to, size_t bytes, int value);           \
  RLX_WEAK void name(void* to, size_t bytes, int value) { \
    (void)memset(to, value, bytes);                       \
  }
#define RLX_AEABI_CLEAR(name)                  \
  void name(void* to, size_t bytes);           \
  RLX_WEAK void name(void* to, size_t bytes) { \
    (void)memset(to, 0, bytes);                \
  }

RLX_AEABI_COPY(__aeabi_memcpy, memcpy)
RLX_AEABI_COPY(__aeabi_memcpy4, memcpy)
RLX_AEABI_COPY(__aeabi_memcpy8, memcpy)
RLX_AEABI_COPY(__aeabi_memmove, memmove)
RLX_AEABI_COPY(__aeabi_memmove4, memmove)
RLX_AEABI_COPY(__aeabi_memmove8, memmove)
RLX_AEABI_SET(__aeabi_memset)
RLX_AEABI_SET(__aeabi_memset4)
RLX_AEABI_SET(__aeabi_memset8)
RLX_AEABI_CLEAR(__aeabi_memclr)
RLX_AEABI_CLEAR(__aeabi_memclr4)
RLX_AEABI_CLEAR(__aeabi_memclr8)

#endif
