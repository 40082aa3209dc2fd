/* ops.c: the operators of my.dsp, as the object of the model calls them. peaks.h declares them. */
#include "peaks.h"

/* Each value becomes the mean of those at most `radius` away. */
int32_t smooth(rlx_context* context, const rlx_tensor* x, int64_t radius, const rlx_tensor* y) {
  const float* in = x->data;
  float* out = y->data;
  int64_t n = x->shape[0];
  (void)context;
  for (int64_t i = 0; i < n; i++) {
    int64_t from = i < radius ? 0 : i - radius, to = i + radius < n ? i + radius : n - 1;
    float sum = 0;
    for (int64_t k = from; k <= to; k++) sum += in[k];
    out[i] = sum / (float)(to - from + 1);
  }
  return 0;
}

/* Where x is at least `least` and larger than both neighbours. The function decides how many places it finds and brings
 * the memory; the program knows that its signals are short. */
int32_t find_peaks(rlx_context* context, const rlx_tensor* x, const rlx_tensor* least, rlx_tensor* places) {
  static int64_t found[32];
  const float* in = x->data;
  int64_t n = x->shape[0], count = 0;
  (void)context;
  for (int64_t i = 1; i + 1 < n; i++) {
    if (in[i] < *(const float*)least->data || in[i] <= in[i - 1] || in[i] <= in[i + 1]) continue;
    if (count == 32) return 1; /* the call of the model ends with RLX_EXTERNAL_FAILED */
    found[count++] = i;
  }
  places->data = found;
  places->shape[0] = count;
  return 0;
}
