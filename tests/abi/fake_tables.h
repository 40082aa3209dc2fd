/* fake_tables.h: the forms in which an emitted object writes its tables down, for models written by hand. */
#ifndef RELAXC_TESTS_ABI_FAKE_TABLES_H
#define RELAXC_TESTS_ABI_FAKE_TABLES_H

#include "rlx_internal.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

#define SPEC(label, code, bits, flag, rank, dims) \
  { label, RLX_KIND_TENSOR, code, bits, flag, rank, dims, NULL, -1, -1, NULL }
#define STATE(label, rank, dims, flag, pair, axis) \
  { label, RLX_KIND_TENSOR, RLX_DTYPE_FLOAT, 32, flag, rank, dims, NULL, pair, axis, NULL }

/* The four wrappers of one entry, which has NAME_inputs, NAME_outputs and NAME_private. */
#define ENTRY(name, num_symbols_, num_dims_)                                                                    \
  static int32_t name##_bind(rlx_context* context, const rlx_tensor* in, uint32_t num_in, int64_t* symbols,     \
                             rlx_error* error) {                                                                \
    uint64_t scratch[RLX_SCRATCH_WORDS(num_symbols_, num_dims_, COUNT(name##_inputs) + COUNT(name##_outputs))]; \
    return rlx_generic_bind(&name##_private, scratch, context, in, num_in, symbols, error);                     \
  }                                                                                                             \
  static int32_t name##_output_shape(const int64_t* symbols, uint32_t index, int64_t* dims) {                   \
    uint64_t scratch[RLX_SCRATCH_WORDS(num_symbols_, num_dims_, COUNT(name##_inputs) + COUNT(name##_outputs))]; \
    return rlx_generic_output_shape(&name##_private, scratch, symbols, index, dims);                            \
  }                                                                                                             \
  static int32_t name##_arena_bytes(const int64_t* symbols, uint64_t* bytes) {                                  \
    return rlx_generic_arena_bytes(&name##_private, symbols, bytes);                                            \
  }                                                                                                             \
  static int32_t name##_run(rlx_context* context, const rlx_tensor* in, uint32_t num_in, rlx_tensor* out,       \
                            uint32_t num_out) {                                                                 \
    uint64_t scratch[RLX_SCRATCH_WORDS(num_symbols_, num_dims_, COUNT(name##_inputs) + COUNT(name##_outputs))]; \
    return rlx_generic_run(&name##_private, scratch, context, in, num_in, out, num_out);                        \
  }

/* Its public record. */
#define RECORD(name, symbol_table, num_symbols_, arena_max_, arena_align_)                                            \
  {                                                                                                                   \
#name, COUNT(name##_inputs), COUNT(name##_outputs), num_symbols_, 0, name##_inputs, name##_outputs, symbol_table, \
        NULL, arena_max_, 1024, arena_align_, name##_bind, name##_output_shape, name##_arena_bytes, name##_run, NULL, \
        0                                                                                                             \
  }

#endif
