/* Calls the object that embed.c has made. */
#include <stdio.h>

#include "relu.h"

int main(void) {
  static relu_arena arena;
  const float x[4] = {-1, 2, -3, 4};
  float y[4];
  rlx_context context = RLX_CONTEXT_INIT;
  relu_args args = {.n = 1, .x = x, .y = y};
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  if (relu_run(&context, &args) != RLX_OK) return 1;
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
  return 0;
}
