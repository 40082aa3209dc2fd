/* start.c: from an entry point to main, the same on every board; start_arm.c and start_riscv.c have what differs. */
#include "start.h"

#include <stddef.h>

extern uint32_t data_begin[], data_end[], data_source[], bss_begin[], bss_end[], stack_end[];
int main(void);

enum { PAINT = 0x5aa55aa5 };

void begin(void) {
  for (size_t i = 0; i < (size_t)(data_end - data_begin); i++) ((volatile uint32_t*)data_begin)[i] = data_source[i];
  for (size_t i = 0; i < (size_t)(bss_end - bss_begin); i++) ((volatile uint32_t*)bss_begin)[i] = 0;
  uint32_t* here = stack_pointer();
  for (volatile uint32_t* at = bss_end; at < here - 16; at++) *at = PAINT;
  end(main());
}

uint32_t stack_used(void) {
  const volatile uint32_t* at = bss_end;
  while (at < stack_end && *at == PAINT) at++;
  return (uint32_t)(stack_end - at) * 4;
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
