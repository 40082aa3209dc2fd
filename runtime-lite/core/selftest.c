/* selftest.c: runs a model on inputs that its object contains, and checks the outputs.
 *
 * After flashing, a board can check that the weights are those that were compiled (by their CRC-32), and that its CPU
 * computes the right results. Elements are compared, as integers, with the least and the largest allowed value, both
 * computed by the compiler; so no tolerance is computed here, and a model without floats needs no float helpers. */
#include "rlx_internal.h"

#define DATA_HEAD   16
#define RECORD_SIZE 48 /* of an rlx_tensor, whatever a pointer is */

/* The position in the arena, and in the data. */
typedef struct place {
  uint8_t* arena; /* null to compute only sizes */
  uint64_t used;
  const uint8_t* data;
} place;

static uint32_t word_at(const uint8_t* at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t number(const uint8_t* at, uint32_t bytes) {
  uint64_t value = 0;
  for (uint32_t i = bytes; i > 0; --i) value = value << 8 | at[i - 1];
  return value;
}

/* Returns an element in the byte order of this machine. */
static uint64_t element(const uint8_t* at, uint32_t bytes) {
#if RLX_BIG_ENDIAN
  uint64_t value = 0;
  for (uint32_t i = 0; i < bytes; ++i) value = value << 8 | at[i];
  return value;
#else
  return number(at, bytes);
#endif
}

static uint64_t round_up(uint64_t value, uint64_t to) {
  return (value + to - 1) & ~(to - 1);
}

/* Returns the CRC-32 of IEEE 802.3, four bits at a time: the table for eight would be as large as a small model. */
static uint32_t checksum(const uint8_t* bytes, uint64_t size) {
  static const uint32_t kTable[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                      0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  uint32_t crc = 0xffffffff;
  for (uint64_t i = 0; i < size; ++i) {
    crc = kTable[(crc ^ bytes[i]) & 15] ^ crc >> 4;
    crc = kTable[(crc ^ (uint32_t)(bytes[i] >> 4)) & 15] ^ crc >> 4;
  }
  return ~crc;
}

static int32_t fail_selftest(rlx_context* context, rlx_status code, int32_t tensor, uint64_t expected,
                             uint64_t actual) {
  if (context->error != NULL) {
    const rlx_error found = {(int32_t)code, tensor, -1, -1, -1, (int64_t)expected, (int64_t)actual};
    *context->error = found;
  }
  return (int32_t)code;
}

/* Maps an element of `bits` bits to an integer such that integers have the order of the values. */
static uint64_t ordered(uint64_t element, uint32_t order, uint32_t bits) {
  const uint64_t sign = UINT64_C(1) << (bits - 1), all = sign | (sign - 1);
  const uint64_t value = element & all;
  if (order == RLX_SELFTEST_SIGNED) return value ^ sign;
  if (order == RLX_SELFTEST_FLOAT) return (value & sign) != 0 ? sign - (value ^ sign) : sign + value;
  return value;
}

/* Returns the index of the first element outside of its range, or -1. */
static int64_t first_outside(const uint8_t* found, const uint8_t* least, uint64_t bytes, uint32_t order,
                             uint32_t bits) {
  const uint32_t size = bits <= 8 ? 1 : bits / 8;
  int64_t index = 0;
  for (uint64_t at = 0; at < bytes; at += size, ++index) {
    const uint64_t value = ordered(element(found + at, size), order, bits);
    if (value < ordered(number(least + at, size), order, bits) ||
        value > ordered(number(least + bytes + at, size), order, bits))
      return index;
  }
  return -1;
}

/* Reads one tensor of the data: makes its record and, for an output, takes memory after the model's arena. */
static void prepare(const rlx_tensor_spec* spec, rlx_tensor* record, place* at, int output) {
  const uint32_t ndim = word_at(at->data), order = word_at(at->data + 4);
  const uint8_t* dims = at->data + 8;
  const uint64_t bytes = number(dims + 8 * ndim, 8);
  const uint8_t* elements = dims + 8 * ndim + 8;
  int64_t* shape = (int64_t*)(void*)(at->arena + at->used);
  if (at->arena != NULL)
    for (uint32_t i = 0; i < ndim; ++i) shape[i] = (int64_t)number(dims + 8 * i, 8);
  at->used += round_up(8 * (uint64_t)ndim, 64);
  if (at->arena != NULL) {
    const rlx_tensor made = {output ? (void*)(at->arena + at->used) : (void*)(uintptr_t)elements,
                             RLX_DEVICE_CPU,
                             0,
                             (int32_t)ndim,
                             spec->dtype_code,
                             spec->dtype_bits,
                             1,
                             shape,
                             NULL,
                             0};
    *record = made;
  }
  if (output) at->used += round_up(bytes, 64);
  at->data = elements + round_up(order == RLX_SELFTEST_INPUT ? bytes : 2 * bytes, 8);
}

static const rlx_tensor_spec* spec_of(const rlx_model* model, const rlx_function* f, uint32_t i) {
  const rlx_tensor_spec* first = i < f->num_inputs ? f->inputs : f->outputs;
  const uint32_t index = i < f->num_inputs ? i : i - f->num_inputs;
  return (const rlx_tensor_spec*)(const void*)((const char*)first + (size_t)index * model->spec_size);
}

static void prepare_all(const rlx_model* model, const rlx_function* f, rlx_tensor* records, place* at) {
  for (uint32_t i = 0; i < f->num_inputs + f->num_outputs; ++i)
    prepare(spec_of(model, f, i), at->arena == NULL ? NULL : records + i, at, i >= f->num_inputs);
}

static int32_t compare(const rlx_function* f, const rlx_tensor* records, const uint8_t* data, rlx_context* context) {
  for (uint32_t i = 0; i < f->num_inputs + f->num_outputs; ++i) {
    const uint32_t ndim = word_at(data), order = word_at(data + 4);
    const uint8_t* dims = data + 8;
    const uint64_t bytes = number(dims + 8 * ndim, 8);
    const uint8_t* elements = dims + 8 * ndim + 8;
    data = elements + round_up(order == RLX_SELFTEST_INPUT ? bytes : 2 * bytes, 8);
    if (order == RLX_SELFTEST_INPUT) continue;
    for (uint32_t axis = 0; axis < ndim; ++axis)
      if (records[i].shape[axis] != (int64_t)number(dims + 8 * axis, 8))
        return fail_selftest(context, RLX_SELFTEST, (int32_t)i, number(dims + 8 * axis, 8),
                             (uint64_t)records[i].shape[axis]);
    const int64_t index = first_outside((const uint8_t*)records[i].data, elements, bytes, order, records[i].dtype_bits);
    if (index >= 0) return fail_selftest(context, RLX_SELFTEST, (int32_t)i, 0, (uint64_t)index);
  }
  return RLX_OK;
}

int32_t rlx_selftest(const rlx_model* model, const uint8_t* data, const uint8_t* weights, uint64_t weights_bytes,
                     rlx_context* context) {
  if (context == NULL) return RLX_NULL_POINTER;
  const rlx_function* f =
      (const rlx_function*)(const void*)((const char*)model->functions + (size_t)word_at(data) * model->function_size);
  if (model->weights_bytes != 0 && (context->weights == NULL || context->weights_bytes < model->weights_bytes))
    return fail_selftest(context, RLX_WEIGHTS_SIZE, -1, model->weights_bytes, context->weights_bytes);
  if (model->weights_bytes != 0) {
    weights = (const uint8_t*)context->weights + sizeof(rlx_weights_header);
    weights_bytes = model->weights_bytes - sizeof(rlx_weights_header);
  }
  const uint32_t tensors = f->num_inputs + f->num_outputs;
  const uint64_t records_at = round_up(f->arena_max, 64);
  const uint64_t begin = records_at + round_up((uint64_t)tensors * RECORD_SIZE, 64);
  place size = {NULL, begin, data + DATA_HEAD};
  prepare_all(model, f, NULL, &size);
  if (context->arena == NULL || context->arena_bytes < size.used)
    return fail_selftest(context, RLX_ARENA_SIZE, -1, size.used, context->arena == NULL ? 0 : context->arena_bytes);
  if (((uintptr_t)context->arena & 7) != 0)
    return fail_selftest(context, RLX_ARENA_ALIGNMENT, -1, 8, (uintptr_t)context->arena & 7);
  const uint32_t found = checksum(weights, weights_bytes);
  if (found != word_at(data + 4)) return fail_selftest(context, RLX_SELFTEST, -1, word_at(data + 4), found);
  rlx_tensor* records = (rlx_tensor*)(void*)((uint8_t*)context->arena + records_at);
  place memory = {(uint8_t*)context->arena, begin, data + DATA_HEAD};
  prepare_all(model, f, records, &memory);
  const uint64_t whole = context->arena_bytes;
  context->arena_bytes = records_at;
  const int32_t status = f->run(context, records, f->num_inputs, records + f->num_inputs, f->num_outputs);
  context->arena_bytes = whole;
  return status != RLX_OK ? status : compare(f, records, data + DATA_HEAD, context);
}
