/* status_name.c: the names of statuses, for programs that print. This is a file of its own, since the strings are
 * larger than the guards. The numbers of statuses have gaps; tests/bindings checks that each status of the header has a
 * name. */
#include "relax_rt.h"

static const char* const names[] = {
    [RLX_OK] = "OK",
    [RLX_NULL_POINTER] = "NULL_POINTER",
    [RLX_TENSOR_COUNT] = "TENSOR_COUNT",
    [RLX_DEVICE] = "DEVICE",
    [RLX_DTYPE] = "DTYPE",
    [RLX_RANK] = "RANK",
    [RLX_STATIC_DIM] = "STATIC_DIM",
    [RLX_SYMBOL_EQUALITY] = "SYMBOL_EQUALITY",
    [RLX_DERIVED_DIM] = "DERIVED_DIM",
    [RLX_DIM_BOUNDS] = "DIM_BOUNDS",
    [RLX_STRIDES] = "STRIDES",
    [RLX_ALIGNMENT] = "ALIGNMENT",
    [RLX_CAPACITY] = "CAPACITY",
    [RLX_OVERLAP] = "OVERLAP",
    [RLX_ARENA_SIZE] = "ARENA_SIZE",
    [RLX_ARENA_ALIGNMENT] = "ARENA_ALIGNMENT",
    [RLX_WEIGHTS_SIZE] = "WEIGHTS_SIZE",
    [RLX_WEIGHTS_HASH] = "WEIGHTS_HASH",
    [RLX_WEIGHTS_ALIGNMENT] = "WEIGHTS_ALIGNMENT",
    [RLX_ABI_MISMATCH] = "ABI_MISMATCH",
    [RLX_SIZE_OVERFLOW] = "SIZE_OVERFLOW",
    [RLX_BROADCAST] = "BROADCAST",
    [RLX_NEEDS_DATA] = "NEEDS_DATA",
    [RLX_CPU_FEATURES] = "CPU_FEATURES",
    [RLX_POOL_SIZE] = "POOL_SIZE",
    [RLX_POOL_ALIGNMENT] = "POOL_ALIGNMENT",
    [RLX_INDEX_RANGE] = "INDEX_RANGE",
    [RLX_DATA_CAPACITY] = "DATA_CAPACITY",
    [RLX_ASSERTION] = "ASSERTION",
    [RLX_EXTERNAL_FAILED] = "EXTERNAL_FAILED",
    [RLX_RECURSION_DEPTH] = "RECURSION_DEPTH",
    [RLX_NO_ALLOCATOR] = "NO_ALLOCATOR",
    [RLX_OUT_OF_MEMORY] = "OUT_OF_MEMORY",
    [RLX_POLLED] = "POLLED",
    [RLX_DATA_BOUND] = "DATA_BOUND",
    [RLX_OBJECT_KIND] = "OBJECT_KIND",
    [RLX_SELFTEST] = "SELFTEST",
    [RLX_NODE_LIMIT] = "NODE_LIMIT",
    [RLX_FILE_IO] = "FILE_IO",
    [RLX_FILE_FORMAT] = "FILE_FORMAT",
};

const char* rlx_status_name(int32_t status) {
  const char* name = status >= 0 && (size_t)status < sizeof names / sizeof *names ? names[status] : NULL;
  return name != NULL ? name : "UNKNOWN";
}
