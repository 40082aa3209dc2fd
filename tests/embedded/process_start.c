/* process_start.c: what board.h offers, in a process of Linux or in WebAssembly: printing and the end. */
#include "board.h"

int main(void);

#if defined(__wasm__)
__attribute__((import_module("env"), import_name("put"))) void put(const char* text, uint32_t length);
#elif defined(__linux__)
#include <unistd.h>
static void put(const char* text, uint32_t length) {
  if (write(1, text, length) < 0) _exit(1);
}
#else /* Linux without a C library: system calls alone */
#ifdef __arm__
enum { kWrite = 4, kExit = 1 };
static long call(long number, long a, long b, long c) {
  register long r0 __asm__("r0") = a, r1 __asm__("r1") = b, r2 __asm__("r2") = c, r7 __asm__("r7") = number;
  __asm__ volatile("svc 0" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r7) : "memory");
  return r0;
}
#else
enum { kWrite = 64, kExit = 93 };
static long call(long number, long a, long b, long c) {
  register long a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c, a7 __asm__("a7") = number;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
  return a0;
}
/* The linker reaches variables from gp. */
__asm__(
    ".globl _start\n_start:\n.option push\n.option norelax\n  la gp, __global_pointer$\n.option pop\n"
    "  call run\n");
#define _start run
#endif
static void put(const char* text, uint32_t length) {
  (void)call(kWrite, 1, (long)text, (long)length);
}
void _start(void);
void _start(void) {
  (void)call(kExit, main(), 0, 0);
}
#endif

void print(const char* text) {
  uint32_t length = 0;
  while (text[length] != 0) length++;
  put(text, length);
}

void print_number(uint32_t value) {
  char digits[11] = {0};
  uint32_t at = 10;
  do digits[--at] = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  print(digits + at);
}

/* Stacks are painted on boards alone. */
uint32_t stack_used(void) {
  return 0;
}
