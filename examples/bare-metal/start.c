/* start.c: from reset to main, and the two things a program without a system may want: to print and to end.
 *
 * Both are semihosting: a breakpoint that the debugger, or QEMU, takes as a request. */
#include "board.h"

#include <stddef.h>

extern uint32_t data_begin[], data_end[], data_source[], bss_begin[], bss_end[], stack_end[];
int main(void);
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

void print_number(uint32_t value) {
  char digits[11];
  char* at = digits + sizeof digits;
  *--at = 0;
  do {
    *--at = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  print(at);
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

enum { PAINT = 0x5aa55aa5 };

/* Runs before anything has a stack worth keeping: enables the floating-point unit, fills memory, paints the stack. */
void reset(void) {
#if defined(__ARM_FP)
  *(volatile uint32_t*)0xe000ed88 |= 0xfu << 20;
  __asm__ volatile("dsb\n isb");
#endif
  for (size_t i = 0; i < (size_t)(data_end - data_begin); i++) ((volatile uint32_t*)data_begin)[i] = data_source[i];
  for (size_t i = 0; i < (size_t)(bss_end - bss_begin); i++) ((volatile uint32_t*)bss_begin)[i] = 0;
  uint32_t* here;
  __asm__ volatile("mov %0, sp" : "=r"(here));
  for (volatile uint32_t* at = bss_end; at < here - 16; at++) *at = PAINT;
  end(main());
}

uint32_t stack_used(void) {
  const volatile uint32_t* at = bss_end;
  while (at < stack_end && *at == PAINT) at++;
  return (uint32_t)(stack_end - at) * 4;
}

__attribute__((section(".vectors"), used)) static const struct {
  void* stack;
  void (*handlers[15])(void);
} vectors = {stack_end,
             {reset, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault}};
