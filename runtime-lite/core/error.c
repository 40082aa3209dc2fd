/* error.c: the error record of a call, from the check that fails to the caller's copy.
 *
 * The guard writes into its own record and copies it at the end. Rejected: writing into the caller's record at once. A
 * caller may keep one record for many calls and reads it as "the last error". */
#include "guard.h"

void rlx_guard_forget(rlx_guard* guard) {
  guard->found.tensor = guard->found.axis = guard->found.symbol = guard->found.node = -1;
  guard->found.expected = guard->found.actual = 0;
}

int32_t rlx_guard_begin(rlx_guard* guard, const rlx_function_private* self, uint64_t* scratch, rlx_context* context) {
  guard->self = self;
  guard->context = context;
  rlx_guard_forget(guard);
  if (self->version != RLX_PRIVATE_VERSION)
    return rlx_guard_fail(guard, RLX_ABI_MISMATCH, RLX_PRIVATE_VERSION, self->version);
  const rlx_function* function = self->function;
  const uint32_t tensors = function->num_inputs + function->num_outputs;
  guard->function = function;
  guard->symbols = NULL;
  if (scratch == NULL) return RLX_OK;
  guard->dims = (int64_t*)scratch + function->num_symbols;
  guard->pointers = (void**)(guard->dims + self->num_dims);
  guard->ranges = (rlx_range*)(guard->dims + self->num_dims + tensors);
  return RLX_OK;
}

int32_t rlx_guard_fail(rlx_guard* guard, rlx_status code, int64_t expected, int64_t actual) {
  guard->found.expected = expected;
  guard->found.actual = actual;
  return (int32_t)code;
}

int32_t rlx_guard_end(rlx_guard* guard, int32_t status, rlx_error* error) {
  if (status != RLX_OK && error != NULL) {
    guard->found.code = status;
    *error = guard->found;
  }
  return status;
}
