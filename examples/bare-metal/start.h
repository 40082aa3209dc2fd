/* start.h: what start.c and the file of a machine have from each other. */
#ifndef START_H
#define START_H

#include "board.h"

/* Fills memory, paints the stack and runs main. The machine's entry point ends with it, with a stack and with the
 * floating-point unit enabled. */
void begin(void);

static inline uint32_t* stack_pointer(void) {
  uint32_t* here;
#if defined(__riscv)
  __asm__ volatile("mv %0, sp" : "=r"(here));
#else
  __asm__ volatile("mov %0, sp" : "=r"(here));
#endif
  return here;
}

#endif
