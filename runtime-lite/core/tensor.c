/* tensor.c: checks one tensor record against its spec, and finds its memory.
 *
 * This is used for all tensors, inputs and outputs. What differs between these (which extents count, whether null data
 * is allowed) is decided by the callers and passed as arguments. */
#include "guard.h"

const rlx_tensor_spec* rlx_spec(const rlx_function* function, uint32_t tensor) {
  return tensor < function->num_inputs ? &function->inputs[tensor] : &function->outputs[tensor - function->num_inputs];
}

static int64_t dtype_number(uint32_t code, uint32_t bits, uint32_t lanes) {
  return (int64_t)(code | bits << 8 | lanes << 16);
}

int32_t rlx_check_record(rlx_guard* guard, uint32_t index, const rlx_tensor* tensor) {
  const rlx_tensor_spec* spec = rlx_spec(guard->function, index);
  rlx_guard_forget(guard);
  guard->found.tensor = (int32_t)index;
  if (tensor->device_type != RLX_DEVICE_CPU)
    return rlx_guard_fail(guard, RLX_DEVICE, RLX_DEVICE_CPU, tensor->device_type);
  if (tensor->device_id != 0) return rlx_guard_fail(guard, RLX_DEVICE, 0, tensor->device_id);
  const int64_t expected = dtype_number(spec->dtype_code, spec->dtype_bits, 1);
  const int64_t actual = dtype_number(tensor->dtype_code, tensor->dtype_bits, tensor->dtype_lanes);
  if (actual != expected) return rlx_guard_fail(guard, RLX_DTYPE, expected, actual);
  if (tensor->ndim != spec->ndim) return rlx_guard_fail(guard, RLX_RANK, spec->ndim, tensor->ndim);
  if (spec->ndim != 0 && tensor->shape == NULL) return rlx_guard_fail(guard, RLX_NULL_POINTER, 0, 0);
  return RLX_OK;
}

/* Returns the alignment of an element in bytes: its size, or that of one part of a complex number. */
static uint32_t element_alignment(const rlx_tensor_spec* spec) {
  uint32_t bytes = spec->dtype_bits / 8u;
  if (spec->dtype_code == RLX_DTYPE_COMPLEX) bytes /= 2;
  uint32_t alignment = 1;
  while (alignment * 2 <= bytes) alignment *= 2;
  return alignment;
}

/* Computes how many elements strides reach before and after the first one; RLX_STRIDES if they are not allowed. */
static int32_t reach(rlx_guard* guard, const rlx_tensor* tensor, const int64_t* dims, uint32_t how, int64_t* before,
                     int64_t* after) {
  int64_t compact = 1;
  for (int32_t axis = tensor->ndim - 1; axis >= 0; --axis) {
    const int64_t last = dims[axis] - 1, stride = tensor->strides[axis];
    if (last > 0) {
      guard->found.axis = axis;
      if (stride != compact && (how & RLX_LOCATE_STRIDED) == 0)
        return rlx_guard_fail(guard, RLX_STRIDES, compact, stride);
      if (stride == INT64_MIN) return rlx_guard_fail(guard, RLX_SIZE_OVERFLOW, INT64_MAX, stride);
      int64_t* side = stride < 0 ? before : after;
      const int64_t step = rlx_multiply(last, stride < 0 ? -stride : stride);
      if (step > INT64_MAX - *side) return rlx_guard_fail(guard, RLX_SIZE_OVERFLOW, INT64_MAX, stride);
      *side += step;
    }
    compact = rlx_multiply(compact, dims[axis]);
  }
  guard->found.axis = -1;
  return RLX_OK;
}

int32_t rlx_locate(rlx_guard* guard, uint32_t index, const rlx_tensor* tensor, const int64_t* dims, int64_t count,
                   uint32_t how) {
  const rlx_tensor_spec* spec = rlx_spec(guard->function, index);
  rlx_range* range = &guard->ranges[index];
  int64_t before = 0, after = count;
  rlx_guard_forget(guard);
  guard->found.tensor = (int32_t)index;
  guard->pointers[index] = NULL;
  range->begin = range->end = 0;
  if (rlx_bytes(count, spec->dtype_bits) < 0) return rlx_guard_fail(guard, RLX_SIZE_OVERFLOW, PTRDIFF_MAX, count);
  if (count == 0) {
    if (tensor->data != NULL)
      guard->pointers[index] = (void*)((uintptr_t)tensor->data + (uintptr_t)tensor->byte_offset);
    return RLX_OK;
  }
  if (tensor->strides != NULL) {
    after = 0;
    const int32_t status = reach(guard, tensor, dims, how, &before, &after);
    if (status != RLX_OK) return status;
    if (after != INT64_MAX) ++after;
  }
  if (tensor->data == NULL) {
    return how & RLX_LOCATE_DATA ? rlx_guard_fail(guard, RLX_NULL_POINTER, 0, 0) : RLX_OK;
  }
  const int64_t bytes_before = rlx_bytes(before, spec->dtype_bits), bytes_after = rlx_bytes(after, spec->dtype_bits);
  const uintptr_t base = (uintptr_t)tensor->data, address = base + (uintptr_t)tensor->byte_offset;
  if (bytes_before < 0 || bytes_after < 0 || tensor->byte_offset > (uint64_t)PTRDIFF_MAX || address < base ||
      address < (uintptr_t)bytes_before || address > UINTPTR_MAX - (uintptr_t)bytes_after)
    return rlx_guard_fail(guard, RLX_SIZE_OVERFLOW, PTRDIFF_MAX, after);
  const uint32_t alignment = element_alignment(spec);
  if (address % alignment != 0)
    return rlx_guard_fail(guard, RLX_ALIGNMENT, (int64_t)alignment, (int64_t)(address % alignment));
  guard->pointers[index] = (void*)address;
  range->begin = address - (uintptr_t)bytes_before;
  range->end = address + (uintptr_t)bytes_after;
  return RLX_OK;
}
