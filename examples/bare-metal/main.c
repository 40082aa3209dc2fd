/* main.c: reads handwritten digits on a board that has no system, no C library and no heap.
 *
 * The typed call of a model of fixed size refers to no table, so all that is linked is its kernels, its weights, and of
 * the runtime what they call. */
#include "digits.h"
#include "samples.h"
#include "score.h"

enum { CLASSES = 10 };

static digits_arena arena;
static float logits[CLASSES];

static int largest(void) {
  int best = 0;
  for (int i = 1; i < CLASSES; i++)
    if (logits[i] > logits[best]) best = i;
  return best;
}

int main(void) {
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  for (int i = 0; i < SAMPLES; i++) {
    const digits_args args = {sample_pixels[i], logits};
    int32_t status = digits_run(&context, &args);
    if (status != RLX_OK) {
      print("status ");
      print_number((uint32_t)status);
      print("\n");
      return 1;
    }
    score(largest(), sample_truth[i]);
  }
  return report(sizeof arena);
}
