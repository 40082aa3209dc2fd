/* context.c: what the caller provides for one call: the context record, the arena, pools, separate weights.
 *
 * The version is read first and alone: in a record of another version, other fields may be elsewhere, even the error
 * pointer. */
#include "guard.h"

int32_t rlx_check_context(rlx_guard* guard) {
  const rlx_context* context = guard->context;
  if (context == NULL) return rlx_guard_fail(guard, RLX_NULL_POINTER, 0, 0);
  if (context->abi_version != RLX_ABI_VERSION)
    return rlx_guard_fail(guard, RLX_ABI_MISMATCH, RLX_ABI_VERSION, context->abi_version);
  if (context->struct_size < sizeof(rlx_context))
    return rlx_guard_fail(guard, RLX_ABI_MISMATCH, (int64_t)sizeof(rlx_context), context->struct_size);
  return RLX_OK;
}

/* Returns a number of bytes for an error record, which holds int64; larger numbers become INT64_MAX. */
static int64_t shown(uint64_t bytes) {
  return bytes > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

/* Checks memory of `given` bytes, of which `needed` are used, and that `alignment` divides its address. Sets `range` to
 * the used bytes. */
static int32_t check_memory(rlx_guard* guard, const void* data, uint64_t given, uint64_t needed, uint32_t alignment,
                            rlx_status size_code, rlx_status alignment_code, rlx_range* range) {
  const uintptr_t address = (uintptr_t)data;
  rlx_guard_forget(guard);
  range->begin = range->end = 0;
  if (needed == 0) return RLX_OK;
  if (data == NULL) given = 0;
  if (given < needed) return rlx_guard_fail(guard, size_code, shown(needed), shown(given));
  if (alignment > 1 && address % alignment != 0)
    return rlx_guard_fail(guard, alignment_code, (int64_t)alignment, (int64_t)(address % alignment));
  if (needed > UINTPTR_MAX - address) return rlx_guard_fail(guard, RLX_SIZE_OVERFLOW, shown(needed), shown(given));
  range->begin = address;
  range->end = address + (uintptr_t)needed;
  return RLX_OK;
}

int32_t rlx_check_arena(rlx_guard* guard, rlx_range* range) {
  uint64_t bytes = guard->function->arena_max;
  rlx_guard_forget(guard);
  if (guard->self->arena != NULL) {
    const int32_t status = guard->self->arena(guard->symbols, &bytes);
    if (status == RLX_SIZE_OVERFLOW) return rlx_guard_fail(guard, RLX_SIZE_OVERFLOW, INT64_MAX, INT64_MAX);
    if (status != RLX_OK) return status;
  }
  return check_memory(guard, guard->context->arena, guard->context->arena_bytes, bytes, guard->function->arena_align,
                      RLX_ARENA_SIZE, RLX_ARENA_ALIGNMENT, range);
}

int32_t rlx_check_pool(rlx_guard* guard, uint32_t pool, rlx_range* range) {
  const rlx_context* context = guard->context;
  const rlx_memory_pool none = {NULL, 0};
  const rlx_memory_pool given = context->pools != NULL && pool < context->num_pools ? context->pools[pool] : none;
  const int32_t status = check_memory(guard, given.data, given.bytes, guard->function->pools[pool].bytes,
                                      guard->function->arena_align, RLX_POOL_SIZE, RLX_POOL_ALIGNMENT, range);
  guard->found.axis = (int32_t)pool;
  return status;
}

int32_t rlx_check_weights(rlx_guard* guard, rlx_range* range) {
  const rlx_function_private* self = guard->self;
  const rlx_context* context = guard->context;
  const int32_t status = check_memory(guard, context->weights, context->weights_bytes, self->weights_bytes,
                                      self->weights_align, RLX_WEIGHTS_SIZE, RLX_WEIGHTS_ALIGNMENT, range);
  if (status != RLX_OK || self->weights_bytes == 0) return status;
  const rlx_weights_header* header = (const rlx_weights_header*)context->weights;
  static const uint8_t magic[8] = RLX_WEIGHTS_MAGIC;
  for (int32_t i = 0; i < 8; ++i)
    if (header->magic[i] != magic[i]) return rlx_guard_fail(guard, RLX_FILE_FORMAT, magic[i], header->magic[i]);
  if (header->abi_version != RLX_ABI_VERSION)
    return rlx_guard_fail(guard, RLX_ABI_MISMATCH, RLX_ABI_VERSION, header->abi_version);
  if (header->bytes != self->weights_bytes)
    return rlx_guard_fail(guard, RLX_WEIGHTS_SIZE, shown(self->weights_bytes), shown(header->bytes));
  for (int32_t i = 0; i < 32; ++i) {
    if (header->hash[i] == self->weights_hash[i]) continue;
    guard->found.axis = i;
    return rlx_guard_fail(guard, RLX_WEIGHTS_HASH, self->weights_hash[i], header->hash[i]);
  }
  return RLX_OK;
}
