/* main.c: runs a network of int8 with relaxc's kernels and with calls of CMSIS-NN, and compares: rounding may differ by
 * one in each of three layers, of which the last two add up what came before with weights that do not enlarge it. */
#include <stdio.h>
#include <stdlib.h>

#include "called.h"
#include "own.h"

static union {
  own_arena own;
  called_arena called;
} memory;

int main(void) {
  int worst = 0, distinct = 0;
  int8_t last = 0;
  for (int trial = 0; trial < 50; trial++) {
    int8_t x[72], own[4], called[4];
    for (int i = 0; i < 72; i++) x[i] = (int8_t)(rand() % 256 - 128);
    rlx_context context = RLX_CONTEXT_INIT;
    context.arena = &memory;
    context.arena_bytes = sizeof memory;
    own_args by_relaxc = {.x = x, .y = own};
    called_args by_library = {.x = x, .y = called};
    int32_t status = own_run(&context, &by_relaxc);
    if (status == RLX_OK) status = called_run(&context, &by_library);
    if (status != RLX_OK) return fprintf(stderr, "%s\n", rlx_status_name(status)), 1;
    for (int i = 0; i < 4; i++) {
      int difference = abs(own[i] - called[i]);
      if (difference > worst) worst = difference;
      distinct += own[i] != last;
      last = own[i];
    }
  }
  printf("largest difference %d, %d distinct neighbours\n", worst, distinct);
  return worst > 2 || distinct < 100;
}
