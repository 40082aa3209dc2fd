/* score.h: what the programs that read digits print: each answer, how many are right, and the memory that it took. */
#include "board.h"

static uint32_t seen, right;

static void score(int answer, int truth) {
  if (seen++ != 0) print(" ");
  print_number((uint32_t)answer);
  right += answer == truth;
}

/* 0 if all were right. */
static int report(uint32_t arena_bytes) {
  print("\n");
  print_number(right);
  print(" of ");
  print_number(seen);
  print(" right, ");
  print_number(arena_bytes);
  print(" bytes of arena, ");
  print_number(stack_used());
  print(" bytes of stack\n");
  return right != seen;
}
