/* status_name.c: a status as a word, for programs that print. In a file of its own, since the strings are larger than
 * the guards; the switch has no default, so that the compiler reports a status without a name. */
#include "relax_rt.h"

const char* rlx_status_name(int32_t status) {
  switch ((rlx_status)status) {
    case RLX_OK:
      return "OK";
    case RLX_NULL_POINTER:
      return "NULL_POINTER";
    case RLX_TENSOR_COUNT:
      return "TENSOR_COUNT";
    case RLX_DEVICE:
      return "DEVICE";
    case RLX_DTYPE:
      return "DTYPE";
    case RLX_RANK:
      return "RANK";
    case RLX_STATIC_DIM:
      return "STATIC_DIM";
    case RLX_SYMBOL_EQUALITY:
      return "SYMBOL_EQUALITY";
    case RLX_DERIVED_DIM:
      return "DERIVED_DIM";
    case RLX_DIM_BOUNDS:
      return "DIM_BOUNDS";
    case RLX_STRIDES:
      return "STRIDES";
    case RLX_ALIGNMENT:
      return "ALIGNMENT";
    case RLX_CAPACITY:
      return "CAPACITY";
    case RLX_OVERLAP:
      return "OVERLAP";
    case RLX_ARENA_SIZE:
      return "ARENA_SIZE";
    case RLX_ARENA_ALIGNMENT:
      return "ARENA_ALIGNMENT";
    case RLX_WEIGHTS_SIZE:
      return "WEIGHTS_SIZE";
    case RLX_WEIGHTS_HASH:
      return "WEIGHTS_HASH";
    case RLX_WEIGHTS_ALIGNMENT:
      return "WEIGHTS_ALIGNMENT";
    case RLX_ABI_MISMATCH:
      return "ABI_MISMATCH";
    case RLX_SIZE_OVERFLOW:
      return "SIZE_OVERFLOW";
    case RLX_BROADCAST:
      return "BROADCAST";
    case RLX_NEEDS_DATA:
      return "NEEDS_DATA";
    case RLX_CPU_FEATURES:
      return "CPU_FEATURES";
    case RLX_INDEX_RANGE:
      return "INDEX_RANGE";
    case RLX_DATA_CAPACITY:
      return "DATA_CAPACITY";
    case RLX_ASSERTION:
      return "ASSERTION";
    case RLX_EXTERNAL_FAILED:
      return "EXTERNAL_FAILED";
    case RLX_RECURSION_DEPTH:
      return "RECURSION_DEPTH";
    case RLX_NO_ALLOCATOR:
      return "NO_ALLOCATOR";
    case RLX_OUT_OF_MEMORY:
      return "OUT_OF_MEMORY";
    case RLX_POLLED:
      return "POLLED";
    case RLX_DATA_BOUND:
      return "DATA_BOUND";
    case RLX_OBJECT_KIND:
      return "OBJECT_KIND";
    case RLX_SELFTEST:
      return "SELFTEST";
    case RLX_FILE_IO:
      return "FILE_IO";
    case RLX_FILE_FORMAT:
      return "FILE_FORMAT";
    case RLX_STATUS_WIDTH_:
      break;
  }
  return "UNKNOWN";
}
