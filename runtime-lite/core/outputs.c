/* outputs.c: checks outputs one by one, once all dims are known.
 *
 * An output's shape is its capacity before the call. For a compact output only the product counts, so that one buffer
 * can serve many sizes; for an output that grows in place inside a larger buffer (an append state with strides), each
 * extent counts. Bytes beyond what an output of exact shape needs are never written, so the overlap check ignores
 * them. */
#include "guard.h"

/* Returns the input whose memory this output shares as a declared state; null if there is none. */
static const rlx_tensor* aliased_input(const rlx_guard* guard, const rlx_tensor* in, const rlx_tensor_spec* spec,
                                       const rlx_tensor* out) {
  if (spec->pair < 0 || out->data == NULL) return NULL;
  const rlx_tensor* input = &in[spec->pair];
  const uintptr_t address = (uintptr_t)out->data + (uintptr_t)out->byte_offset;
  return (uintptr_t)guard->pointers[spec->pair] == address ? input : NULL;
}

/* Checks a state in place: both records must have the same strides, and elements of a growing state must not overlap.
 */
static int32_t check_alias(rlx_guard* guard, const rlx_tensor* input, const rlx_tensor* out,
                           const rlx_tensor_spec* spec, const int64_t* dims) {
  int64_t least = 1;
  for (int32_t axis = spec->ndim - 1; axis >= 0; --axis) {
    const int64_t stride = rlx_stride(out->strides, dims, spec->ndim, axis);
    const int64_t before = rlx_stride(input->strides, input->shape, spec->ndim, axis);
    guard->found.axis = axis;
    if (dims[axis] > 1) {
      if (stride != before) return rlx_guard_fail(guard, RLX_STRIDES, before, stride);
      if (stride < least) return rlx_guard_fail(guard, RLX_STRIDES, least, stride);
      least = rlx_multiply(stride, dims[axis]);
    }
    if (out->strides != NULL && out->shape[axis] < dims[axis])
      return rlx_guard_fail(guard, RLX_CAPACITY, dims[axis], out->shape[axis]);
  }
  return RLX_OK;
}

/* Sets the capacity in elements, saturated; returns RLX_CAPACITY if an extent is negative. */
static int32_t read_capacity(rlx_guard* guard, const rlx_tensor* out, int64_t* capacity) {
  for (int32_t axis = 0; axis < out->ndim; ++axis) {
    guard->found.axis = axis;
    if (out->shape[axis] < 0) return rlx_guard_fail(guard, RLX_CAPACITY, 0, out->shape[axis]);
  }
  guard->found.axis = -1;
  *capacity = rlx_count(out->shape, out->ndim);
  return RLX_OK;
}

/* Sets the number of elements that the call may need; fails if it is unknown or negative. */
static int32_t read_need(rlx_guard* guard, const rlx_tensor_spec* spec, const int64_t* dims, int64_t* need) {
  for (int32_t axis = 0; axis < spec->ndim; ++axis) {
    guard->found.axis = axis;
    if (dims[axis] == RLX_DIM_DERIVED) return rlx_guard_fail(guard, RLX_NEEDS_DATA, 0, 0);
    if (dims[axis] < 0) return rlx_guard_fail(guard, RLX_DIM_BOUNDS, 0, dims[axis]);
  }
  guard->found.axis = -1;
  *need = rlx_count(dims, spec->ndim);
  return RLX_OK;
}

/* Checks a data-dependent output. Its strides would depend on its final size, so it must be compact. */
static int32_t check_bounded(rlx_guard* guard, uint32_t index, const rlx_tensor* out, int64_t* dims, int64_t need,
                             int64_t capacity) {
  const int64_t count = need < capacity ? need : capacity;
  if (out->strides != NULL && (out->ndim > 1 || out->strides[0] != 1)) {
    guard->found.axis = 0;
    return rlx_guard_fail(guard, RLX_STRIDES, 1, out->strides[0]);
  }
  dims[0] = count;
  return rlx_locate(guard, index, out, dims, count, RLX_LOCATE_DATA | RLX_LOCATE_STRIDED);
}

static int32_t check_output(rlx_guard* guard, uint32_t index, const rlx_tensor* in, const rlx_tensor* out,
                            int64_t* dims) {
  const rlx_tensor_spec* spec = rlx_spec(guard->function, index);
  int64_t need = 0, capacity = 0;
  uint32_t how = RLX_LOCATE_DATA;
  int32_t status = rlx_check_record(guard, index, out);
  if (status == RLX_OK) status = read_capacity(guard, out, &capacity);
  if (status == RLX_OK) status = read_need(guard, spec, dims, &need);
  if (status != RLX_OK) return status;
  if ((spec->flags & RLX_FLAG_DATA_DEPENDENT) != 0) return check_bounded(guard, index, out, dims, need, capacity);
  if (capacity < need) return rlx_guard_fail(guard, RLX_CAPACITY, need, capacity);
  const rlx_tensor* input = need == 0 ? NULL : aliased_input(guard, in, spec, out);
  if (input != NULL && (spec->append_axis >= 0 || input->strides != NULL)) {
    status = check_alias(guard, input, out, spec, dims);
    if (spec->append_axis >= 0) how |= RLX_LOCATE_STRIDED;
  }
  return status == RLX_OK ? rlx_locate(guard, index, out, dims, need, how) : status;
}

int32_t rlx_check_outputs(rlx_guard* guard, const rlx_tensor* in, const rlx_tensor* out, uint32_t num_out) {
  const rlx_function* function = guard->function;
  int64_t* dims = guard->dims;
  rlx_guard_forget(guard);
  if (num_out != function->num_outputs) return rlx_guard_fail(guard, RLX_TENSOR_COUNT, function->num_outputs, num_out);
  if (num_out != 0 && out == NULL) return rlx_guard_fail(guard, RLX_NULL_POINTER, 0, 0);
  for (uint32_t t = 0; t < function->num_inputs; ++t) dims += function->inputs[t].ndim;
  for (uint32_t t = 0; t < num_out; ++t) {
    const int32_t status = check_output(guard, function->num_inputs + t, in, &out[t], dims);
    if (status != RLX_OK) return status;
    dims += function->outputs[t].ndim;
  }
  return RLX_OK;
}
