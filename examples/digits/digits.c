/* digits.c: shows handwritten digits that the network was not trained on, and what it takes them for.
 *
 * The network is digits.o, which relaxc made of digits.onnx; digits.h, made with it, declares the call. All memory is
 * here: the object allocates nothing and keeps nothing. The batch is symbolic in the model and bounded by --dim n=1..12
 * when it is compiled, so the header can state one arena size for every batch. */
#include <stdio.h>

#include "digits.h"
#include "samples.h"

enum { CLASSES = 10, PER_ROW = 6 };

/* Prints a row of pictures side by side: ten grades of ink for the values 0 to 16. */
static void show(int first, int count) {
  static const char ink[] = " .:-=+*#%@";
  for (int y = 0; y < 8; y++) {
    for (int s = first; s < first + count; s++) {
      printf("  ");
      for (int x = 0; x < 8; x++) {
        char c = ink[(int)(sample_pixels[s][y * 8 + x] * 9.0f / 16.0f)];
        printf("%c%c", c, c);
      }
    }
    printf("\n");
  }
}

static int largest(const float* logits) {
  int best = 0;
  for (int i = 1; i < CLASSES; i++)
    if (logits[i] > logits[best]) best = i;
  return best;
}

int main(void) {
  static digits_arena arena;
  static float logits[SAMPLES][CLASSES];
  rlx_error error = {0};
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  context.error = &error;

  digits_args args = {.n = SAMPLES, .image = sample_pixels[0], .logits = logits[0]};
  int status = digits_run(&context, &args);
  if (status != RLX_OK) {
    fprintf(stderr, "digits: %s (expected %lld, found %lld)\n", rlx_status_name(status), (long long)error.expected,
            (long long)error.actual);
    return 1;
  }

  int right = 0;
  for (int first = 0; first < SAMPLES; first += PER_ROW) {
    show(first, PER_ROW);
    for (int s = first; s < first + PER_ROW; s++) {
      int seen = largest(logits[s]);
      right += seen == sample_truth[s];
      printf("  sees %d, is %d    ", seen, sample_truth[s]);
    }
    printf("\n\n");
  }
  printf("%d of %d right\n", right, SAMPLES);
  return 0;
}
