/* main.c: runs one network twice, with relaxc's kernels and with oneDNN's, and compares what they give. */
#include <math.h>
#include <stdio.h>

#include "../digits/samples.h"
#include "digits_onednn.h"
#include "digits_own.h"

static digits_own_arena own_arena;
static digits_onednn_arena library_arena;

int main(void) {
  static float own[SAMPLES][10], library[SAMPLES][10];
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &own_arena;
  context.arena_bytes = sizeof own_arena;
  digits_own_args by_relaxc = {.n = SAMPLES, .image = &sample_pixels[0][0], .logits = &own[0][0]};
  int32_t status = digits_own_run(&context, &by_relaxc);
  if (status == RLX_OK) {
    context.arena = &library_arena;
    context.arena_bytes = sizeof library_arena;
    digits_onednn_args by_library = {.n = SAMPLES, .image = &sample_pixels[0][0], .logits = &library[0][0]};
    status = digits_onednn_run(&context, &by_library);
  }
  if (status != RLX_OK) {
    fprintf(stderr, "digits: %s\n", rlx_status_name(status));
    return 1;
  }
  double most = 0, difference = 0;
  int right = 0;
  for (int i = 0; i < SAMPLES; i++) {
    int best = 0;
    for (int k = 0; k < 10; k++) {
      if (library[i][k] > library[i][best]) best = k;
      most = fmax(most, fabs((double)own[i][k]));
      difference = fmax(difference, fabs((double)own[i][k] - (double)library[i][k]));
    }
    right += best == sample_truth[i];
  }
  /* Sums of at most 768 products in another order: a relative error of 768 * 2^-24 for each of three layers. */
  int same = difference <= most * 3 * 768 * 0x1p-24;
  printf("oneDNN reads %d of %d digits; its results and those of relaxc's kernels %s\n", right, SAMPLES,
         same ? "agree" : "differ");
  return !same;
}
