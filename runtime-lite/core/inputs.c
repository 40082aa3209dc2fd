/* inputs.c: checks inputs and finds the values of all symbols.
 *
 * The order matters, since each step may rely only on what the steps before have checked: first records, then symbols
 * of dims and their bounds, then dims that need nothing else, then memory. Only now may small inputs be read for value
 * symbols; with these, all derived dims are computed and compared. Rejected: solving and checking in one walk, because
 * a dim of an earlier input may contain a value symbol. */
#include "guard.h"

/* Reads symbols from dims and strides; symbols that come from values become unknown (INT64_MIN). */
static void solve_symbols(rlx_guard* guard, const rlx_tensor* in, int64_t* symbols) {
  for (uint32_t k = 0; k < guard->function->num_symbols; ++k) {
    const rlx_symbol_source* source = &guard->self->sources[k];
    symbols[k] = INT64_MIN;
    if (source->kind == RLX_SOURCE_VALUE) continue;
    const rlx_tensor* tensor = &in[source->tensor];
    symbols[k] = source->kind == RLX_SOURCE_DIM
                     ? tensor->shape[source->axis]
                     : rlx_stride(tensor->strides, tensor->shape, tensor->ndim, source->axis);
  }
}

/* Compares the dims of inputs with `dims`, as far as these are known. */
static int32_t match_dims(rlx_guard* guard, const rlx_tensor* in) {
  const int64_t* expected = guard->dims;
  rlx_guard_forget(guard);
  for (uint32_t t = 0; t < guard->function->num_inputs; ++t) {
    const rlx_tensor_spec* spec = &guard->function->inputs[t];
    for (int32_t axis = 0; axis < spec->ndim; ++axis, ++expected) {
      const int64_t dim = spec->dims[axis], actual = in[t].shape[axis];
      if (actual >= 0 && (actual == *expected || *expected == RLX_DIM_DERIVED)) continue;
      guard->found.tensor = (int32_t)t;
      guard->found.axis = axis;
      if (dim >= 0) return rlx_guard_fail(guard, RLX_STATIC_DIM, *expected, actual);
      if (actual < 0) return rlx_guard_fail(guard, RLX_DIM_BOUNDS, 0, actual);
      if (dim == RLX_DIM_DERIVED) return rlx_guard_fail(guard, RLX_DERIVED_DIM, *expected, actual);
      guard->found.symbol = (int32_t)(-1 - dim);
      return rlx_guard_fail(guard, RLX_SYMBOL_EQUALITY, *expected, actual);
    }
  }
  return RLX_OK;
}

/* Finds the memory of every input by its actual extents. */
static int32_t locate_inputs(rlx_guard* guard, const rlx_tensor* in, uint32_t how) {
  for (uint32_t t = 0; t < guard->function->num_inputs; ++t) {
    const uint32_t strided = guard->function->inputs[t].flags & RLX_FLAG_STRIDED ? RLX_LOCATE_STRIDED : 0;
    const int32_t status = rlx_locate(guard, t, &in[t], in[t].shape, rlx_count(in[t].shape, in[t].ndim), how | strided);
    if (status != RLX_OK) return status;
  }
  return RLX_OK;
}

/* Returns whether all inputs whose values decide shapes have data. */
static int has_values(const rlx_guard* guard, const rlx_tensor* in) {
  for (uint32_t t = 0; t < guard->function->num_inputs; ++t)
    if ((guard->function->inputs[t].flags & RLX_FLAG_VALUES) != 0 && guard->pointers[t] == NULL &&
        rlx_count(in[t].shape, in[t].ndim) != 0)
      return 0;
  return 1;
}

/* Reads the value symbols, if their inputs have data, and checks the symbols again. */
static int32_t read_values(rlx_guard* guard, const rlx_tensor* in, int64_t* symbols) {
  int64_t* dims = guard->dims;
  rlx_guard_forget(guard);
  if ((guard->self->flags & RLX_PRIVATE_CONTEXT) != 0 && guard->context == NULL)
    return rlx_guard_fail(guard, RLX_NULL_POINTER, 0, 0);
  if (!has_values(guard, in)) return RLX_OK;
  for (uint32_t t = 0; t < guard->function->num_inputs; ++t)
    for (int32_t axis = 0; axis < in[t].ndim; ++axis) *dims++ = in[t].shape[axis];
  int32_t status =
      guard->self->values(guard->context, (const void* const*)guard->pointers, guard->dims, symbols, &guard->found);
  return status == RLX_OK ? rlx_check_symbols(guard) : status;
}

int32_t rlx_check_inputs(rlx_guard* guard, const rlx_tensor* in, uint32_t num_in, int64_t* symbols, uint32_t how) {
  const uint32_t num_inputs = guard->function->num_inputs;
  int32_t status = RLX_OK;
  if (num_in != num_inputs) return rlx_guard_fail(guard, RLX_TENSOR_COUNT, num_inputs, num_in);
  if (num_inputs != 0 && in == NULL) return rlx_guard_fail(guard, RLX_NULL_POINTER, 0, 0);
  for (uint32_t t = 0; t < num_inputs && status == RLX_OK; ++t) status = rlx_check_record(guard, t, &in[t]);
  if (status != RLX_OK) return status;
  guard->symbols = symbols;
  solve_symbols(guard, in, symbols);
  status = rlx_check_symbols(guard);
  if (status == RLX_OK) rlx_fill_dims(guard);
  if (status == RLX_OK) status = match_dims(guard, in);
  if (status == RLX_OK) status = locate_inputs(guard, in, how);
  if (status == RLX_OK && guard->self->values != NULL) status = read_values(guard, in, symbols);
  if (status == RLX_OK) status = rlx_compute_dims(guard);
  if (status == RLX_OK) status = match_dims(guard, in);
  return status;
}
