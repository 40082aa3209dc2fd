/* start_riscv.c: what start_arm.c does for Cortex-M, for RISC-V as QEMU's `virt` board has it: a serial port to print
 * to, and a device that ends the program. */
#include "start.h"

void print(const char* text) {
  volatile uint8_t* port = (volatile uint8_t*)(uintptr_t)0x10000000;
  while (*text != 0) *port = (uint8_t)*text++;
}

void end(int failed) {
  *(volatile uint32_t*)(uintptr_t)0x100000 = failed ? 0x13333 : 0x5555;
  for (;;) {
  }
}

/* Every hart begins here, without a stack; the first one goes on. */
__asm__(
    ".option arch, +zicsr\n.section .vectors, \"ax\"\n.globl reset\nreset:\n  csrr t0, mhartid\n  bnez t0, reset\n"
    "  la sp, stack_end\n  la t0, trapped\n  csrw mtvec, t0\n"
#if defined(__riscv_flen)
    "  li t0, 0x2000\n  csrs mstatus, t0\n"
#endif
    "  call begin\n.balign 4\ntrapped:\n  li a0, 1\n  call end\n.text");
