/* rlx_internal.h: the interface between emitted objects and the generic call in runtime-lite. Not for programs.
 *
 * The checks of all entry points are the same loops over their tables, so they are in runtime-lite/core, and an object
 * only contains what differs: a constant rlx_function_private and up to four small functions of int64 and raw pointers,
 * which do not know the public records. Rejected: emitting the checks as code, which grows with every tensor and would
 * have to be compiled again when a check changes.
 *
 * For each entry point, an object emits four wrappers for the pointers of its rlx_function. Each has the scratch words
 * on its stack, so that the compiler knows the stack usage (no alloca, no variable-length array):
 *
 *   static int32_t main_run(rlx_context* c, const rlx_tensor* in, uint32_t ni, rlx_tensor* out, uint32_t no) {
 *     uint64_t scratch[RLX_SCRATCH_WORDS(symbols, dims, inputs + outputs)];
 *     return rlx_generic_run(&main_private, scratch, c, in, ni, out, no);
 *   }
 *
 * `dims` below is one flat array: every dim of every input in order, then every dim of every output. */
#ifndef RLX_INTERNAL_H
#define RLX_INTERNAL_H

#include "relax_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the records in this file; the generic functions return RLX_ABI_MISMATCH for others. */
#define RLX_PRIVATE_VERSION 2u

/* Where the value of a symbol comes from:
 * DIM: input `tensor`'s dim `axis`, where the symbol is bare for the first time;
 * STRIDE: input `tensor`'s stride along `axis`, in elements (the compact one where strides are null);
 * VALUE: written by `values`; tensor and axis are -1. */
#define RLX_SOURCE_DIM    0u
#define RLX_SOURCE_STRIDE 1u
#define RLX_SOURCE_VALUE  2u

typedef struct rlx_symbol_source {
  uint32_t kind;
  int32_t tensor, axis;
} rlx_symbol_source;

/* rlx_function_private.flags:
 * CONTEXT: bind needs a context, since `values` calls external shape functions;
 * PARTIAL: `shapes` and `arena` also answer while a value symbol is INT64_MIN (not yet known). */
#define RLX_PRIVATE_CONTEXT 1u
#define RLX_PRIVATE_PARTIAL 2u

typedef struct rlx_function_private {
  uint32_t version;  /* RLX_PRIVATE_VERSION */
  uint32_t flags;    /* RLX_PRIVATE_* */
  uint32_t num_dims; /* of all inputs and outputs together */
  uint32_t weights_align;
  const rlx_function* function;     /* the public record: specs, symbols, arena_max, arena_align */
  const rlx_symbol_source* sources; /* one per symbol; null if there are none */

  /* Computes derived dims. `dims` arrives with static and bare dims filled in and RLX_DIM_DERIVED elsewhere; writes
   * those, and for data-dependent outputs the upper bound (INT64_MAX: none). Checks relations that are not an input's
   * dim, and its own overflow. Symbols are within their declared bounds. With RLX_PRIVATE_PARTIAL a symbol may be
   * INT64_MIN, and a dim that depends on it is left RLX_DIM_DERIVED or gets its bound; without, the call is not made
   * then. Returns a status; `error` is never null and arrives with -1 and 0: the function sets what it knows, the
   * caller sets the code. Null: no derived dim, no relation. */
  int32_t (*shapes)(const int64_t* symbols, int64_t* dims, rlx_error* error);

  /* Reads value symbols, once the symbols of dims are known and the static and bare dims are checked: writes every
   * symbol whose source is RLX_SOURCE_VALUE. inputs[i] has its byte offset applied; `dims` are the actual dims of the
   * inputs. Called only when every input with RLX_FLAG_VALUES has its data; otherwise those symbols stay INT64_MIN.
   * Error as above. Null: no value symbol. */
  int32_t (*values)(rlx_context* context, const void* const* inputs, const int64_t* dims, int64_t* symbols,
                    rlx_error* error);

  /* Bytes of arena for these symbols, or RLX_SIZE_OVERFLOW. With RLX_PRIVATE_PARTIAL also for symbols that are
   * INT64_MIN: a bound, or RLX_NEEDS_DATA. Null: always function->arena_max. */
  int32_t (*arena)(const int64_t* symbols, uint64_t* bytes);

  /* The computation on raw pointers, byte offsets applied, all guards done. `out_dims` is the part of `dims` that
   * belongs to outputs. For a data-dependent output its first entry holds the capacity in elements on entry; the
   * function writes the actual dims there, and returns RLX_DATA_CAPACITY when they do not fit. An aliased append state
   * (equal pointers) has the strides of its input in both; every other output is compact. Fills context->error (if not
   * null) itself. */
  int32_t (*call)(rlx_context* context, void* const* inputs, void* const* outputs, const int64_t* symbols,
                  int64_t* out_dims);

  const uint8_t* weights_hash; /* 32 bytes, compared with the header's; null: weights are in the object */
  uint64_t weights_bytes;
} rlx_function_private;

/* The scratch of a wrapper in 8-byte words, for these numbers of symbols, dims and tensors (inputs and outputs). Never
 * 0. */
#define RLX_SCRATCH_WORDS(symbols, dims, tensors) (1 + (symbols) + (dims) + 3 * (tensors))

int32_t rlx_generic_bind(const rlx_function_private* self, uint64_t* scratch, rlx_context* context,
                         const rlx_tensor* in, uint32_t num_in, int64_t* symbols, rlx_error* error);
int32_t rlx_generic_output_shape(const rlx_function_private* self, uint64_t* scratch, const int64_t* symbols,
                                 uint32_t index, int64_t* dims);
int32_t rlx_generic_arena_bytes(const rlx_function_private* self, const int64_t* symbols, uint64_t* bytes);
int32_t rlx_generic_run(const rlx_function_private* self, uint64_t* scratch, rlx_context* context, const rlx_tensor* in,
                        uint32_t num_in, rlx_tensor* out, uint32_t num_out);

/* The heap of one run, for sizes without a bound: blocks in chunks from context->alloc, which are reused within the
 * run. `heap` is RLX_HEAP_WORDS words that an entry keeps in its arena. A block is two words, its address and its size
 * in bytes; both are 0 while it has no memory. */
#define RLX_HEAP_TOP         0 /* start of the unused part of the current chunk */
#define RLX_HEAP_END         1 /* end of the current chunk */
#define RLX_HEAP_CHUNK       2 /* bytes of the next chunk; 0: RLX_HEAP_FIRST_CHUNK */
#define RLX_HEAP_FREE        3 /* heads of the free lists of blocks of 64 << k bytes */
#define RLX_HEAP_CLASSES     55
#define RLX_HEAP_DEPTH       (RLX_HEAP_FREE + RLX_HEAP_CLASSES) /* number of running calls of recursive functions */
#define RLX_HEAP_NODES       (RLX_HEAP_DEPTH + 1) /* the block with the nodes of algebraic data, which moves as it grows */
#define RLX_HEAP_NODE_WORDS  (RLX_HEAP_NODES + 2) /* words of it in use */
#define RLX_HEAP_NODE_COUNT  (RLX_HEAP_NODE_WORDS + 1)
#define RLX_HEAP_WORDS       (RLX_HEAP_NODE_COUNT + 1)
#define RLX_HEAP_FIRST_CHUNK 16384

/* Initializes an empty heap. Always returns RLX_OK. */
int32_t rlx_heap_begin(rlx_context* context, int64_t* heap, rlx_error* error);
/* Gives `block` at least `bytes` bytes, aligned to 64; keeps the contents of its first `keep` bytes. If that fails,
 * leaves it unchanged and returns RLX_NO_ALLOCATOR or RLX_OUT_OF_MEMORY; `error` may be null. */
int32_t rlx_heap_reserve(rlx_context* context, int64_t* heap, int64_t* block, int64_t keep, int64_t bytes,
                         rlx_error* error);
/* Same for a block whose words are not initialized yet. */
int32_t rlx_heap_claim(rlx_context* context, int64_t* heap, int64_t* block, int64_t bytes, rlx_error* error);
/* Frees the memory of `block`, if it has any, for other blocks of this run. Always returns RLX_OK. */
int32_t rlx_heap_release(rlx_context* context, int64_t* heap, int64_t* block, rlx_error* error);

/* A tensor that other code made during the run, as words: its address, the wanted rank and dtype (code | bits << 8),
 * and its dims. */
#define RLX_RESULT_ADDRESS 0
#define RLX_RESULT_NDIM    1
#define RLX_RESULT_DTYPE   2
#define RLX_RESULT_DIMS    3

/* Makes a record for an external function to fill: without data, and with room for the dims. */
void rlx_result_begin(int64_t* words, rlx_tensor* record);
/* Checks the record that the function filled, and writes its address and dims to the words. */
int32_t rlx_result_end(const rlx_tensor* record, int64_t* words, rlx_error* error);
/* Same for the rlx_object that `handle` points to, which must be of `kind`. */
int32_t rlx_object_read(rlx_context* context, uint64_t* handle, int64_t* words, int64_t kind, rlx_error* error);

/* 1 if this machine stores the most significant byte first, else 0. */
#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__)
#define RLX_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#elif defined(__BIG_ENDIAN__) || defined(__big_endian__) || defined(__ARMEB__) || defined(__MIPSEB__)
#define RLX_BIG_ENDIAN 1
#else
#define RLX_BIG_ENDIAN 0
#endif

/* What `<name>_selftest` calls. `data`, aligned to 8 and, except for the elements of inputs, little-endian: the
 * function's index, the CRC-32 of the weights, two words for later; then each input and output: rank, order of its
 * elements (one of those below), dims and size in bytes as 64-bit numbers, the elements of an input, or the least and
 * then the largest elements that an output may have, padded to 8 bytes. The arena holds the model's own, the tensors'
 * records and the outputs. */
#define RLX_SELFTEST_INPUT    0
#define RLX_SELFTEST_UNSIGNED 1
#define RLX_SELFTEST_SIGNED   2
#define RLX_SELFTEST_FLOAT    3 /* a sign and a magnitude */
int32_t rlx_selftest(const rlx_model* model, const uint8_t* data, const uint8_t* weights, uint64_t weights_bytes,
                     rlx_context* context);

/* Element arithmetic for CPUs without such instructions; otherwise a libm would be needed. */
double rlx_fmod(double x, double y); /* C's fmod: exact, with the sign of x */
float rlx_fmodf(float x, float y);
double rlx_fma(double x, double y, double z); /* one rounding, to nearest even */
float rlx_fmaf(float x, float y, float z);
double rlx_sqrt(double x); /* rounded to nearest even */
float rlx_sqrtf(float x);
/* Reduces every finite x of at least 2^32 in magnitude to rest, with x = (4 k + quadrant) pi/2 + rest; skips others. */
void rlx_reduce_angles(int32_t count, const double* x, double* rest, double* quadrant);

#ifdef __cplusplus
}
#endif

#endif
