/* digits_swift.h: the network as Swift sees it. Swift imports neither initializers that are macros nor large arrays, so
 * functions give both. */
#include "libdigits.h"
#include "samples.h"

/* A context with the ABI version of this header. */
static inline rlx_context digits_context(void) {
  rlx_context context = RLX_CONTEXT_INIT;
  return context;
}

/* SAMPLES pictures of 64 numbers, and which digit each of them is. */
static inline const float* digits_pixels(void) {
  return sample_pixels[0];
}
static inline int digits_truth(int sample) {
  return sample_truth[sample];
}
