/* heap.c: memory for sizes that cannot be planned before the run, in chunks from context->alloc.
 *
 * The problem: a few sizes are known only during the run and have no bound. The context can allocate but not free,
 * since the caller's allocator owns everything until it is reset; so the run must reuse memory that it no longer needs.
 *
 * The method: blocks of 64 << k bytes, a free list for each k (Knuth, TAOCP 2.5), and a chunk from which new blocks are
 * cut; chunks double in size, so a run calls the allocator a logarithmic number of times. Blocks may be released in any
 * order, so loop-carried values, results of callees and frames of a recursion need no special treatment.
 *
 * Rejected: a stack with marks (a callee's result outlives its temporaries, which are below it), and headers inside the
 * blocks (the owner of a block has its size beside the address). Rounding to powers of two wastes up to half of a
 * block; in return, a block that grows in small steps is seldom moved.
 *
 * All state is in words that the entry keeps in its arena, so two runs share nothing. */
#include "rlx_internal.h"

#define SMALLEST 64

static int32_t fail_chunk(rlx_error* error, rlx_status code, int64_t bytes) {
  if (error != NULL) {
    error->tensor = error->axis = error->symbol = error->node = -1;
    error->code = (int32_t)code;
    error->expected = bytes;
    error->actual = 0;
  }
  return (int32_t)code;
}

int32_t rlx_heap_begin(rlx_context* context, int64_t* heap, rlx_error* error) {
  (void)context;
  (void)error;
  for (int32_t i = 0; i < RLX_HEAP_WORDS; ++i) heap[i] = 0;
  return RLX_OK;
}

/* Returns the least k with bytes <= 64 << k; RLX_HEAP_CLASSES if there is none. */
static int32_t class_of(int64_t bytes) {
  int32_t k = 0;
  while (k < RLX_HEAP_CLASSES && ((int64_t)SMALLEST << k) < bytes) ++k;
  return k;
}

/* A free block starts with the address of the next free block of its class. */
static void push(int64_t* heap, int32_t k, int64_t address) {
  *(int64_t*)(uintptr_t)address = heap[RLX_HEAP_FREE + k];
  heap[RLX_HEAP_FREE + k] = address;
}

/* Adds the rest of a chunk that is too small to the free lists, in blocks as large as possible. */
static void give_up_chunk(int64_t* heap) {
  for (int32_t k = RLX_HEAP_CLASSES - 1; k >= 0; --k) {
    const int64_t size = (int64_t)SMALLEST << k;
    while (heap[RLX_HEAP_END] - heap[RLX_HEAP_TOP] >= size) {
      push(heap, k, heap[RLX_HEAP_TOP]);
      heap[RLX_HEAP_TOP] += size;
    }
  }
}

static int32_t add_chunk(rlx_context* context, int64_t* heap, int64_t size, rlx_error* error) {
  if (context == NULL || context->alloc == NULL) return fail_chunk(error, RLX_NO_ALLOCATOR, size);
  if ((uint64_t)size > (uint64_t)(UINTPTR_MAX / 2)) return fail_chunk(error, RLX_OUT_OF_MEMORY, size);
  int64_t bytes = heap[RLX_HEAP_CHUNK] != 0 ? heap[RLX_HEAP_CHUNK] : RLX_HEAP_FIRST_CHUNK;
  if (bytes < size) bytes = size;
  void* chunk = context->alloc(context->alloc_user, (uint64_t)bytes, SMALLEST);
  if (chunk == NULL && bytes > size) {
    bytes = size;
    chunk = context->alloc(context->alloc_user, (uint64_t)bytes, SMALLEST);
  }
  if (chunk == NULL) return fail_chunk(error, RLX_OUT_OF_MEMORY, size);
  give_up_chunk(heap);
  heap[RLX_HEAP_TOP] = (int64_t)(uintptr_t)chunk;
  heap[RLX_HEAP_END] = heap[RLX_HEAP_TOP] + bytes;
  if (bytes <= (int64_t)(UINTPTR_MAX / 8)) heap[RLX_HEAP_CHUNK] = bytes * 2;
  return RLX_OK;
}

int32_t rlx_heap_release(rlx_context* context, int64_t* heap, int64_t* block, rlx_error* error) {
  (void)context;
  (void)error;
  if (block[0] != 0) push(heap, class_of(block[1]), block[0]);
  block[0] = block[1] = 0;
  return RLX_OK;
}

int32_t rlx_heap_claim(rlx_context* context, int64_t* heap, int64_t* block, int64_t bytes, rlx_error* error) {
  block[0] = block[1] = 0;
  return rlx_heap_reserve(context, heap, block, 0, bytes, error);
}

int32_t rlx_heap_reserve(rlx_context* context, int64_t* heap, int64_t* block, int64_t keep, int64_t bytes,
                         rlx_error* error) {
  if (block[0] != 0 && bytes <= block[1]) return RLX_OK;
  const int32_t k = class_of(bytes);
  if (k == RLX_HEAP_CLASSES) return fail_chunk(error, RLX_OUT_OF_MEMORY, bytes);
  const int64_t size = (int64_t)SMALLEST << k;
  int64_t address = heap[RLX_HEAP_FREE + k];
  if (address != 0) {
    heap[RLX_HEAP_FREE + k] = *(const int64_t*)(uintptr_t)address;
  } else {
    if (heap[RLX_HEAP_END] - heap[RLX_HEAP_TOP] < size) {
      const int32_t status = add_chunk(context, heap, size, error);
      if (status != RLX_OK) return status;
    }
    address = heap[RLX_HEAP_TOP];
    heap[RLX_HEAP_TOP] += size;
  }
  const uint8_t* from = (const uint8_t*)(uintptr_t)block[0];
  uint8_t* to = (uint8_t*)(uintptr_t)address;
  for (int64_t i = 0; i < keep; ++i) to[i] = from[i];
  (void)rlx_heap_release(context, heap, block, error);
  block[0] = address;
  block[1] = size;
  return RLX_OK;
}
