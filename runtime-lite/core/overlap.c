/* overlap.c: checks which buffers share memory.
 *
 * Kernels are compiled under the assumption that they do not read what they write. The only exception is a state: an
 * output and its paired input, if both start at the same byte. Inputs may share memory with each other. All pairs are
 * compared; sorting would only pay for hundreds of tensors. */
#include "guard.h"

static int overlaps(rlx_range a, rlx_range b) {
  return a.begin != a.end && b.begin != b.end && a.begin < b.end && b.begin < a.end;
}

/* Fails if tensor `t` shares a byte with `given`, which is the arena (-1), the weights (-2) or pool k (-3 - k). */
static int32_t check_caller_memory(rlx_guard* guard, uint32_t t, rlx_range given, int64_t name) {
  guard->found.tensor = (int32_t)t;
  return overlaps(guard->ranges[t], given) ? rlx_guard_fail(guard, RLX_OVERLAP, 0, name) : RLX_OK;
}

/* Compares output `t` with all inputs and the outputs before it. */
static int32_t check_output_overlap(rlx_guard* guard, uint32_t t) {
  const rlx_range* ranges = guard->ranges;
  const int32_t pair = rlx_spec(guard->function, t)->pair;
  guard->found.tensor = (int32_t)t;
  for (uint32_t other = 0; other < t; ++other) {
    if (!overlaps(ranges[t], ranges[other])) continue;
    const int is_state = other < guard->function->num_inputs && pair == (int32_t)other;
    if (is_state && guard->pointers[t] == guard->pointers[other]) continue;
    return rlx_guard_fail(guard, RLX_OVERLAP, 0, other);
  }
  return RLX_OK;
}

int32_t rlx_check_overlap(rlx_guard* guard, rlx_range arena, rlx_range weights) {
  const uint32_t num_inputs = guard->function->num_inputs;
  int32_t status = RLX_OK;
  rlx_guard_forget(guard);
  for (uint32_t t = 0; t < num_inputs + guard->function->num_outputs && status == RLX_OK; ++t) {
    status = check_caller_memory(guard, t, arena, -1);
    if (t < num_inputs || status != RLX_OK) continue;
    status = check_caller_memory(guard, t, weights, -2);
    if (status == RLX_OK) status = check_output_overlap(guard, t);
  }
  if (status == RLX_OK && overlaps(arena, weights)) {
    guard->found.tensor = -1;
    status = rlx_guard_fail(guard, RLX_OVERLAP, 0, -2);
  }
  return status;
}

int32_t rlx_check_pool_overlap(rlx_guard* guard, uint32_t pool, rlx_range range, rlx_range arena, rlx_range weights) {
  const int64_t name = -3 - (int64_t)pool;
  int32_t status = RLX_OK;
  rlx_guard_forget(guard);
  for (uint32_t t = 0; t < guard->function->num_inputs + guard->function->num_outputs && status == RLX_OK; ++t)
    status = check_caller_memory(guard, t, range, name);
  if (status != RLX_OK) return status;
  rlx_guard_forget(guard);
  int shared = overlaps(range, arena) || overlaps(range, weights);
  for (uint32_t other = 0; other < pool; ++other) {
    rlx_range before;
    status = rlx_check_pool(guard, other, &before);
    if (status != RLX_OK) return status;
    shared = shared || overlaps(range, before);
  }
  rlx_guard_forget(guard);
  return shared ? rlx_guard_fail(guard, RLX_OVERLAP, 0, name) : RLX_OK;
}
