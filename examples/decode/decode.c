/* decode.c: writes letters with a model that remembers: each call takes the letter before and the cache of keys and
 * values that the call before left, which grows by a row.
 *
 * One object serves every length up to 64, and one arena. The cache grows where it is: input and output of a step are
 * the same memory, of which it writes the new row and nothing else. */
#include <stdio.h>

#include "decoder.h"

enum { LONGEST = 64, WIDTH = 16, STEPS = 40 };

static decoder_arena arena;
static float keys[LONGEST * WIDTH], values[LONGEST * WIDTH];

int main(void) {
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  int64_t token = 'r' - 'a';
  for (int step = 0; step < STEPS; step++) {
    putchar('a' + (int)token);
    int64_t next = 0;
    decoder_args args = {.token = &token,
                         .keys = keys,
                         .values = values,
                         .n = step,
                         .next_token = &next,
                         .more_keys = keys,
                         .more_values = values};
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
