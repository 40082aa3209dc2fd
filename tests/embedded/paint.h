/* paint.h: how far a call goes below its caller's stack pointer.
 *
 * Nothing is called between painting and looking but what is measured. The caller's stack pointer moves by `shift`,
 * since a callee that aligns its frame takes more from some places than from others. */
#ifndef PAINT_H
#define PAINT_H

#include <stdint.h>

enum { PAINTED = 12288, PAINT_COLOR = 0xa5 };

#if defined(__x86_64__)
#define STACK_POINTER(at) __asm__ volatile("mov %%rsp, %0" : "=r"(at))
#elif defined(__riscv)
#define STACK_POINTER(at) __asm__ volatile("mv %0, sp" : "=r"(at))
#else
#define STACK_POINTER(at) __asm__ volatile("mov %0, sp" : "=r"(at))
#endif

typedef int32_t painted_call(void* context, const void* args);

/* Bytes that `call` took; its status goes to `status`. */
__attribute__((noinline)) static uint32_t painted(painted_call* call, void* context, const void* args, uint32_t shift,
                                                  int32_t* status) {
  volatile unsigned char moved[shift + 1];
  volatile unsigned char *top, *at;
  moved[0] = 0;
  STACK_POINTER(top);
  for (at = top - PAINTED; at < top; at++) *at = PAINT_COLOR;
  *status = call(context, args);
  at = top - PAINTED;
  while (at < top && *at == PAINT_COLOR) at++;
  moved[shift] = 0;
  return (uint32_t)(top - at);
}

/* A parallel_for that runs all tasks on the caller's stack, and what it takes of that itself. */
static uint32_t tasks_frame, tasks_seen;
static int32_t run_tasks(void* user, int32_t tasks, int32_t (*task)(void* arg, int32_t index), void* arg) {
  int32_t status = 0;
  volatile unsigned char* here;
  (void)user;
  for (int32_t i = 0; i < tasks; i++) {
    const int32_t one = task(arg, i);
    if (one != 0) status = one;
  }
  STACK_POINTER(here);
  tasks_frame = (uint32_t)((volatile unsigned char*)__builtin_dwarf_cfa() - here);
  tasks_seen++;
  return status;
}

#endif
