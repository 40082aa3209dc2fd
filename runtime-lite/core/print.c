/* print.c: the rlx_print for programs without an output: it does nothing.
 *
 * A program that wants R.print's output links relax_rt_hosted before this library, or defines an rlx_print of its own,
 * for a serial port for instance; then this file is not linked. */
#include "relax_rt.h"

int32_t rlx_print(rlx_context* context, const rlx_tensor* text, const rlx_tensor* value, int64_t kind) {
  (void)context;
  (void)text;
  (void)value;
  (void)kind;
  return RLX_OK;
}
