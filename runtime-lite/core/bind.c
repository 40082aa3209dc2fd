/* bind.c: the queries that a caller may make before a run: sizes of symbols and outputs, and bytes of memory.
 *
 * They work on symbols alone, so a program can plan its buffers once for the largest size and call many times. */
#include "guard.h"

int32_t rlx_generic_bind(const rlx_function_private* self, uint64_t* scratch, rlx_context* context,
                         const rlx_tensor* in, uint32_t num_in, int64_t* symbols, rlx_error* error) {
  rlx_guard guard;
  int32_t status = rlx_guard_begin(&guard, self, scratch, context);
  if (status == RLX_OK && context != NULL) status = rlx_check_context(&guard);
  if (status == RLX_OK && symbols == NULL && guard.function->num_symbols != 0)
    status = rlx_guard_fail(&guard, RLX_NULL_POINTER, 0, 0);
  if (status == RLX_OK) status = rlx_check_inputs(&guard, in, num_in, symbols, 0);
  return rlx_guard_end(&guard, status, error);
}

int32_t rlx_generic_output_shape(const rlx_function_private* self, uint64_t* scratch, const int64_t* symbols,
                                 uint32_t index, int64_t* dims) {
  rlx_guard guard;
  int32_t status = rlx_guard_begin(&guard, self, scratch, NULL);
  if (status != RLX_OK) return status;
  const rlx_function* function = guard.function;
  if (index >= function->num_outputs) return RLX_TENSOR_COUNT;
  if (symbols == NULL && function->num_symbols != 0) return RLX_NULL_POINTER;
  if (dims == NULL && function->outputs[index].ndim != 0) return RLX_NULL_POINTER;
  guard.symbols = symbols;
  status = rlx_check_symbols(&guard);
  if (status == RLX_OK) status = rlx_compute_dims(&guard);
  if (status != RLX_OK) return status;
  const int64_t* from = guard.dims;
  for (uint32_t t = 0; t < function->num_inputs + index; ++t) from += rlx_spec(function, t)->ndim;
  for (int32_t axis = 0; axis < function->outputs[index].ndim; ++axis) {
    if (from[axis] == RLX_DIM_DERIVED) return RLX_NEEDS_DATA;
    if (from[axis] < 0) return RLX_DIM_BOUNDS;
    dims[axis] = from[axis];
  }
  return RLX_OK;
}

int32_t rlx_generic_arena_bytes(const rlx_function_private* self, const int64_t* symbols, uint64_t* bytes) {
  rlx_guard guard;
  int32_t status = rlx_guard_begin(&guard, self, NULL, NULL);
  if (status != RLX_OK) return status;
  if (bytes == NULL || (symbols == NULL && guard.function->num_symbols != 0)) return RLX_NULL_POINTER;
  guard.symbols = symbols;
  status = rlx_check_symbols(&guard);
  if (status != RLX_OK) return status;
  if (self->arena != NULL) return rlx_can_compute(&guard) ? self->arena(symbols, bytes) : RLX_NEEDS_DATA;
  *bytes = guard.function->arena_max;
  return RLX_OK;
}
