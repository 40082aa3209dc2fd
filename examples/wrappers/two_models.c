/* two_models.c: two models in one program. Their names are the prefixes of all their symbols, so nothing collides, and
 * one piece of memory serves both, since neither keeps anything in it between calls. */
#include <stdio.h>

#include "digits.h"
#include "samples.h"
#include "vad.h"

static union {
  digits_arena digits;
  vad_arena vad;
} arena;

int main(void) {
  static float frame[160], logits[SAMPLES][10];
  float energy = 0, floor = 1e-6f, speech = 0;
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  digits_args read = {.image = sample_pixels[0], .logits = logits[0], .n = SAMPLES};
  vad_args hear = {.frame = frame,
                   .energy_in = &energy,
                   .floor_in = &floor,
                   .speech = &speech,
                   .energy_out = &energy,
                   .floor_out = &floor};
  for (int i = 0; i < 3; i++)
    if (digits_run(&context, &read) != RLX_OK || vad_run(&context, &hear) != RLX_OK) return 1;
  int right = 0;
  for (int s = 0; s < SAMPLES; s++) {
    int best = 0;
    for (int k = 1; k < 10; k++)
      if (logits[s][k] > logits[s][best]) best = k;
    right += best == sample_truth[s];
  }
  printf("%d of %d digits right, %s, %u bytes of arena for both\n", right, SAMPLES,
         speech > 0.5f ? "speech" : "silence", (unsigned)sizeof arena);
  return 0;
}
