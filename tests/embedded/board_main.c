/* board_main.c: one call of a model on a board: are its outputs what they should be, and how long did it take?
 *
 * case.h, which board.py writes, has inputs, expected outputs, their places in m_args, and CHECKS, which compares. */
#include "board.h"
#include "m.h"

static uint32_t worst; /* millionths of the largest magnitude by which a float was off */

static void check_floats(const float* got, const float* want, uint32_t count, float scale) {
  for (uint32_t i = 0; i < count; i++) {
    float off = got[i] > want[i] ? got[i] - want[i] : want[i] - got[i];
    float part = off / scale * 1e6f;
    uint32_t whole = part < 1e9f ? (uint32_t)part : 1000000000u; /* NaN as well */
    if (whole > worst) worst = whole;
  }
}

static void check_bytes(const void* got, const void* want, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (((const uint8_t*)got)[i] != ((const uint8_t*)want)[i]) worst = 1000000000u;
}

#include "case.h"

#if defined(NO_COUNTER)
static uint32_t now(void) {
  return 0;
}
#elif defined(__riscv)
static uint32_t now(void) {
  uint32_t count;
  __asm__ volatile(".option push\n.option arch, +zicsr\n csrr %0, minstret\n.option pop" : "=r"(count));
  return count;
}
#else
static uint32_t now(void) {
  volatile uint32_t* timer = (volatile uint32_t*)0xe000e010;
  if ((timer[0] & 1) == 0) {
    timer[1] = 0xffffff;
    timer[2] = 0;
    timer[0] = 5;
    while (timer[2] == 0) {
    }
  }
  return 0xffffff - timer[2]; /* 24 bits of ticks: 0.67 seconds on the slowest board */
}
#endif

static m_arena arena;
#ifdef M_POOL_TCM
__attribute__((section(".tcm"))) static m_pool_tcm tcm;
static const rlx_memory_pool pools[] = {[M_POOL_TCM] = {&tcm, sizeof tcm}};
#endif

int main(void) {
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
#ifdef M_POOL_TCM
  context.pools = pools;
  context.num_pools = 1;
#endif
  const m_args args = ARGUMENTS;
  uint32_t begin = now();
  int32_t status = m_run(&context, &args);
  uint32_t took = now() - begin; /* of one call: it does not wrap twice */
#if !defined(__riscv)
  took &= 0xffffff;
#endif
  if (status == 0) {
    CHECKS
  }
  const uint32_t figures[] = {(uint32_t)status, worst, took, sizeof arena, stack_used()};
  for (int i = 0; i < 5; i++) {
    print_number(figures[i]);
    print(i < 4 ? " " : "\n");
  }
  return status != 0 || worst > 2000;
}
