/* result.c: tensors that other code made during the run: an external function's result of unknown size, and the target
 * of a handle.
 *
 * The model passes words: the address (to be found), the wanted rank and dtype, and the dims (to be found). A result is
 * trusted no more than an input: device, dtype, rank, extents, size, strides, data and alignment are checked before a
 * byte is read. Statuses are those of the guards, with tensor -1. */
#include "guard.h"

static int32_t refuse_result(rlx_error* error, rlx_status code, int32_t axis, int64_t expected, int64_t actual) {
  if (error != NULL) {
    error->code = (int32_t)code;
    error->tensor = error->symbol = error->node = -1;
    error->axis = axis;
    error->expected = expected;
    error->actual = actual;
  }
  return (int32_t)code;
}

void rlx_result_begin(int64_t* words, rlx_tensor* record) {
  record->data = NULL;
  record->device_type = RLX_DEVICE_CPU;
  record->device_id = 0;
  record->ndim = (int32_t)words[RLX_RESULT_NDIM];
  record->dtype_code = (uint8_t)words[RLX_RESULT_DTYPE];
  record->dtype_bits = (uint8_t)(words[RLX_RESULT_DTYPE] >> 8);
  record->dtype_lanes = 1;
  record->shape = words + RLX_RESULT_DIMS;
  record->strides = NULL;
  record->byte_offset = 0;
  for (int32_t axis = 0; axis < record->ndim; ++axis) record->shape[axis] = 0;
}

int32_t rlx_result_end(const rlx_tensor* record, int64_t* words, rlx_error* error) {
  const int32_t ndim = (int32_t)words[RLX_RESULT_NDIM];
  const int64_t dtype = record->dtype_code | (int64_t)record->dtype_bits << 8 | (int64_t)record->dtype_lanes << 16;
  const int64_t wanted = words[RLX_RESULT_DTYPE] | (int64_t)1 << 16;
  if (record->device_type != RLX_DEVICE_CPU)
    return refuse_result(error, RLX_DEVICE, -1, RLX_DEVICE_CPU, record->device_type);
  if (dtype != wanted) return refuse_result(error, RLX_DTYPE, -1, wanted, dtype);
  if (record->ndim != ndim) return refuse_result(error, RLX_RANK, -1, ndim, record->ndim);
  if (ndim > 0 && record->shape == NULL) return refuse_result(error, RLX_NULL_POINTER, -1, 0, 0);
  for (int32_t axis = 0; axis < ndim; ++axis) {
    const int64_t dim = record->shape[axis];
    if (dim < 0) return refuse_result(error, RLX_DIM_BOUNDS, axis, 0, dim);
    words[RLX_RESULT_DIMS + axis] = dim;
  }
  const int64_t* dims = words + RLX_RESULT_DIMS;
  const int64_t count = rlx_count(dims, ndim), bytes = rlx_bytes(count, record->dtype_bits);
  if (count == INT64_MAX || bytes < 0) return refuse_result(error, RLX_SIZE_OVERFLOW, -1, INT64_MAX, count);
  for (int32_t axis = 0; axis < ndim && record->strides != NULL && count > 0; ++axis) {
    const int64_t compact = rlx_stride(NULL, dims, ndim, axis);
    if (dims[axis] != 1 && record->strides[axis] != compact)
      return refuse_result(error, RLX_STRIDES, axis, compact, record->strides[axis]);
  }
  if (record->data == NULL && count > 0) return refuse_result(error, RLX_NULL_POINTER, -1, 0, 0);
  const uint64_t address = (uint64_t)(uintptr_t)record->data + record->byte_offset;
  const uint32_t alignment = record->dtype_bits > 8 ? record->dtype_bits / 8u : 1;
  if (count > 0 && address % alignment != 0)
    return refuse_result(error, RLX_ALIGNMENT, -1, (int64_t)alignment, (int64_t)(address % alignment));
  words[RLX_RESULT_ADDRESS] = (int64_t)address;
  return RLX_OK;
}

int32_t rlx_object_read(rlx_context* context, uint64_t* handle, int64_t* words, int64_t kind, rlx_error* error) {
  (void)context;
  const rlx_object* object = (const rlx_object*)(uintptr_t)*handle;
  if (object == NULL) return refuse_result(error, RLX_NULL_POINTER, -1, 0, 0);
  if (object->kind != (uint32_t)kind) return refuse_result(error, RLX_OBJECT_KIND, -1, kind, object->kind);
  return rlx_result_end(&object->tensor, words, error);
}
