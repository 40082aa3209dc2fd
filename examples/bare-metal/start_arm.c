/* start_arm.c: the vectors of a Cortex-M, and the two things a program without a system may want: to print and to end.
 *
 * Both are semihosting: a breakpoint that the debugger, or QEMU, takes as a request. */
#include "start.h"

extern uint32_t stack_end[];
void reset(void);

static int request(int operation, const void* argument) {
  register int r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

void print(const char* text) {
  request(4, text);
}

void end(int failed) {
  request(0x18, (const void*)(failed ? 0x20023 : 0x20026));
  for (;;) {
  }
}

static void fault(void) {
  print("fault\n");
  end(1);
}

void reset(void) {
#if defined(__ARM_FP)
  *(volatile uint32_t*)0xe000ed88 |= 0xfu << 20;
  __asm__ volatile("dsb\n isb");
#endif
  begin();
}

__attribute__((section(".vectors"), used)) static const struct {
  void* stack;
  void (*handlers[15])(void);
} vectors = {stack_end,
             {reset, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault}};
