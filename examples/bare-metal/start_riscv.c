/* start_riscv.c: what start.c does for Cortex-M, for RISC-V as QEMU's `virt` board has it: a serial port to print to,
 * and a device that ends the program. */
#include "board.h"

#include <stddef.h>

extern uint32_t data_begin[], data_end[], data_source[], bss_begin[], bss_end[], stack_end[];
int main(void);
void start(void);

void print(const char* text) {
  volatile uint8_t* port = (volatile uint8_t*)(uintptr_t)0x10000000;
  while (*text != 0) *port = (uint8_t)*text++;
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
  *(volatile uint32_t*)(uintptr_t)0x100000 = failed ? 0x13333 : 0x5555;
  for (;;) {
  }
}

enum { PAINT = 0x5aa55aa5 };

/* Every hart begins here, without a stack; the first one goes on. */
__asm__(
    ".option arch, +zicsr\n.section .vectors, \"ax\"\n.globl reset\nreset:\n  csrr t0, mhartid\n  bnez t0, reset\n"
    "  la sp, stack_end\n  la t0, trapped\n  csrw mtvec, t0\n"
#if defined(__riscv_flen)
    "  li t0, 0x2000\n  csrs mstatus, t0\n"
#endif
    "  call start\n.balign 4\ntrapped:\n  li a0, 1\n  call end\n.text");

void start(void) {
  for (size_t i = 0; i < (size_t)(data_end - data_begin); i++) ((volatile uint32_t*)data_begin)[i] = data_source[i];
  for (size_t i = 0; i < (size_t)(bss_end - bss_begin); i++) ((volatile uint32_t*)bss_begin)[i] = 0;
  uint32_t* here;
  __asm__ volatile("mv %0, sp" : "=r"(here));
  for (volatile uint32_t* at = bss_end; at < here - 16; at++) *at = PAINT;
  end(main());
}

uint32_t stack_used(void) {
  const volatile uint32_t* at = bss_end;
  while (at < stack_end && *at == PAINT) at++;
  return (uint32_t)(stack_end - at) * 4;
}
