/* decode.c: writes letters with a model that remembers: each call takes the letter before and the cache of keys and
 * values that the call before left, which grows by a row.
 *
 * One object serves every length up to 64, and one arena. The cache lies in two places that take turns: a step reads
 * one and writes the other. */
#include <stdio.h>

#include "decoder.h"

enum { LONGEST = 64, WIDTH = 16, STEPS = 40 };

static decoder_arena arena;
static float cache[2][2][LONGEST * WIDTH];

int main(void) {
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  int64_t token = 'r' - 'a';
  for (int step = 0; step < STEPS; step++) {
    putchar('a' + (int)token);
    int64_t next = 0;
    float(*from)[LONGEST * WIDTH] = cache[step % 2], (*to)[LONGEST * WIDTH] = cache[(step + 1) % 2];
    decoder_args args = {.token = &token,
                         .keys = from[0],
                         .values = from[1],
                         .n = step,
                         .next_token = &next,
                         .more_keys = to[0],
                         .more_values = to[1]};
    int status = decoder_run(&context, &args);
    if (status != RLX_OK) {
      printf("\nstep %d: %s\n", step, rlx_status_name(status));
      return 1;
    }
    token = next;
  }
  printf("\n%d steps, %d bytes of arena\n", STEPS, DECODER_ARENA_MAX);
  return 0;
}
