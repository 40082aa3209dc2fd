/* tune.c: learns to read digits from twelve samples, by `tune sgd` (the default) or `tune adam`.
 *
 * All that is learned is here: weights, and Adam's moments. Each step calls loss_adjoint, which gives the loss and its
 * derivatives, and then the optimizer, whose states are the weights: it writes the new ones where the old ones were. */
#include <stdio.h>
#include <string.h>

#include "samples.h"
#include "tune.h"

enum { FEATURES = 768, CLASSES = 10, STEPS = 40 };

typedef struct {
  float weight[FEATURES * CLASSES], bias[CLASSES];
} layer;

static _Alignas(TUNE_ARENA_ALIGN_OF_ALL) unsigned char arena[TUNE_ARENA_MAX_OF_ALL];
static layer learned, adjoint, mean, square; /* the layer starts from zero: every digit has one chance in ten */
static float step;
static int64_t label[SAMPLES];

static int update(rlx_context* context, int by_adam) {
  if (!by_adam) {
    float rate = 0.005f;
    tune_sgd_args args = {.weight = learned.weight,
                          .bias = learned.bias,
                          .weight_adjoint = adjoint.weight,
                          .bias_adjoint = adjoint.bias,
                          .rate = &rate,
                          .weight_next = learned.weight,
                          .bias_next = learned.bias};
    return tune_sgd_run(context, &args);
  }
  float rate = 0.001f;
  tune_adam_args args = {.weight = learned.weight,
                         .bias = learned.bias,
                         .weight_adjoint = adjoint.weight,
                         .bias_adjoint = adjoint.bias,
                         .weight_mean = mean.weight,
                         .weight_square = square.weight,
                         .bias_mean = mean.bias,
                         .bias_square = square.bias,
                         .step = &step,
                         .rate = &rate,
                         .weight_next = learned.weight,
                         .bias_next = learned.bias,
                         .weight_mean_next = mean.weight,
                         .weight_square_next = square.weight,
                         .bias_mean_next = mean.bias,
                         .bias_square_next = square.bias,
                         .step_next = &step};
  return tune_adam_run(context, &args);
}

/* How many samples the layer knows now; -1 if the call fails. */
static int right(rlx_context* context) {
  static float logits[SAMPLES][CLASSES];
  tune_classify_args args = {.n = SAMPLES,
                             .image = &sample_pixels[0][0],
                             .weight = learned.weight,
                             .bias = learned.bias,
                             .logits = &logits[0][0]};
  if (tune_classify_run(context, &args) != RLX_OK) return -1;
  int count = 0;
  for (int s = 0; s < SAMPLES; s++) {
    int best = 0;
    for (int k = 1; k < CLASSES; k++)
      if (logits[s][k] > logits[s][best]) best = k;
    count += best == sample_truth[s];
  }
  return count;
}

int main(int argc, char** argv) {
  int by_adam = argc > 1 && strcmp(argv[1], "adam") == 0;
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = arena;
  context.arena_bytes = sizeof arena;
  for (int s = 0; s < SAMPLES; s++) label[s] = sample_truth[s];
  for (int i = 0; i <= STEPS; i++) {
    float loss = 0;
    tune_loss_adjoint_args args = {.n = SAMPLES,
                                   .image = &sample_pixels[0][0],
                                   .label = label,
                                   .weight = learned.weight,
                                   .bias = learned.bias,
                                   .loss = &loss,
                                   .weight_adjoint = adjoint.weight,
                                   .bias_adjoint = adjoint.bias};
    if (tune_loss_adjoint_run(&context, &args) != RLX_OK) return 1;
    if (i % 10 == 0) printf("step %2d: loss %.4f, %d of %d right\n", i, (double)loss, right(&context), SAMPLES);
    if (update(&context, by_adam) != RLX_OK) return 1;
  }
  return 0;
}
