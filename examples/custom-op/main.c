/* main.c: runs peaks.onnx, of which two operators are C functions of this program. */
#include <stdio.h>

#include "peaks.h"

int main(void) {
  static const float signal[16] = {0, 1, 0, 0, 2, 3, 2, 0, 0, 0, 1, 6, 1, 0, 0, 0};
  static peaks_arena arena;
  float strong[16];
  int64_t places[16], dims[1] = {16};
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  peaks_args args = {.n = 16, .signal = signal, .strong = strong, .peaks = places, .peaks_dims = dims};
  int32_t status = peaks_run(&context, &args);
  if (status != RLX_OK) {
    fprintf(stderr, "peaks: %s\n", rlx_status_name(status));
    return 1;
  }
  for (int64_t i = 0; i < dims[0]; i++) printf("a peak at %d: %.3f\n", (int)places[i], (double)strong[places[i]]);
  return 0;
}
