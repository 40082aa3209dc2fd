/* main.c: reads handwritten digits in bytes, on a board with 8 KB of flash and 4 KB of RAM.
 *
 * The model is compiled with --io=quantized: it takes pixels as they are stored, which the header says are 0 to 16 as
 * they come, and gives integers, of which the largest is the largest number too. So no floating-point arithmetic is
 * linked for its border. */
#include "digits8.h"
#include "samples8.h"
#include "score.h"

enum { CLASSES = 10 };

/* For tiny.ld: what the call takes of the stack at most. */
#define TEXT_OF(number) #number
#define TEXT(macro)     TEXT_OF(macro)
__asm__(".global model_stack\n.equ model_stack, " TEXT(DIGITS8_RUN_STACK_MAX));

static digits8_arena arena;
static int8_t logits[CLASSES];

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
    const digits8_args args = {sample_pixels[i], logits};
    if (digits8_run(&context, &args) != RLX_OK) return 1;
    score(largest(), sample_truth[i]);
  }
  return report(sizeof arena);
}
