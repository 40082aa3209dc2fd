/* run.c: the generic call: all checks, then the computation, then the sizes of outputs.
 *
 * A caller that knows a model only by its tables must use it; a caller that was compiled with the generated header
 * makes the typed call, which needs none of this. */
#include "guard.h"

static int32_t check_all(rlx_guard* guard, int64_t* symbols, const rlx_tensor* in, uint32_t num_in,
                         const rlx_tensor* out, uint32_t num_out) {
  rlx_range arena, weights;
  int32_t status = rlx_check_inputs(guard, in, num_in, symbols, RLX_LOCATE_DATA);
  if (status == RLX_OK) status = rlx_check_outputs(guard, in, out, num_out);
  if (status == RLX_OK) status = rlx_check_arena(guard, &arena);
  if (status == RLX_OK) status = rlx_check_weights(guard, &weights);
  if (status == RLX_OK) status = rlx_check_overlap(guard, arena, weights);
  for (uint32_t pool = 0; pool < guard->function->num_pools && status == RLX_OK; ++pool) {
    rlx_range range;
    status = rlx_check_pool(guard, pool, &range);
    if (status == RLX_OK) status = rlx_check_pool_overlap(guard, pool, range, arena, weights);
  }
  return status;
}

int32_t rlx_generic_run(const rlx_function_private* self, uint64_t* scratch, rlx_context* context, const rlx_tensor* in,
                        uint32_t num_in, rlx_tensor* out, uint32_t num_out) {
  rlx_guard guard;
  guard.context = context;
  rlx_guard_forget(&guard);
  int32_t status = rlx_check_context(&guard);
  if (status != RLX_OK) return status;
  status = rlx_guard_begin(&guard, self, scratch, context);
  if (status == RLX_OK) status = check_all(&guard, (int64_t*)scratch, in, num_in, out, num_out);
  if (status != RLX_OK) return rlx_guard_end(&guard, status, context->error);
  int64_t* dims = guard.dims;
  for (uint32_t t = 0; t < num_in; ++t) dims += guard.function->inputs[t].ndim;
  status = self->call(context, guard.pointers, guard.pointers + num_in, guard.symbols, dims);
  if (status != RLX_OK) return status;
  for (uint32_t t = 0; t < num_out; ++t)
    for (int32_t axis = 0; axis < out[t].ndim; ++axis) out[t].shape[axis] = *dims++;
  return RLX_OK;
}
