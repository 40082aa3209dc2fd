/* relax_rt.h: the interface between a program and the objects that relaxc emits.
 *
 * An object keeps no state: what it reads, what it writes and the memory that it computes in belong to the caller and
 * are in the records below. So this header consists of records, numbers and a few functions, and needs no library.
 * docs/abi.md explains each record and gives the offsets of its fields for 64-bit and 32-bit targets.
 *
 * Fields have fixed widths and enumerations are never fields, so -fshort-enums changes nothing. There are neither
 * bit-fields nor unions, because a loader in another language must be able to define these records from a table of
 * their fields. */

/* Detects a header of another version that was included before, which the include guard would hide. */
#if defined(RLX_ABI_VERSION)
#if RLX_ABI_VERSION != 1
#error "relax_rt.h: this header is of ABI version 1, a header of another ABI version was included before it"
#endif
#endif

#ifndef RELAX_RT_H
#define RELAX_RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RLX_ABI_VERSION 1

/* The result of every function. The numbers are stable: a code is never renumbered or reused. The comments say what the
 * error record has in `expected` and `actual`; fields without a meaning are -1 (tensor, axis, symbol, node) or 0.
 */
typedef enum rlx_status {
  RLX_OK = 0,

  /* Guards: these are found before a byte of an output or of the arena is written. */
  RLX_NULL_POINTER = 1,    /* a required pointer is null; tensor and axis -1: an argument of the call itself */
  RLX_TENSOR_COUNT = 2,    /* number of inputs or outputs (or an output index): expected, actual */
  RLX_DEVICE = 3,          /* device type 1 and device id 0 are expected; actual: the one of the two that differs */
  RLX_DTYPE = 4,           /* expected, actual: code | bits << 8 | lanes << 16 */
  RLX_RANK = 5,            /* expected, actual number of dims */
  RLX_STATIC_DIM = 6,      /* a dim that is a constant of the model: expected, actual */
  RLX_SYMBOL_EQUALITY = 7, /* a dim differs from the value that its symbol has elsewhere: expected, actual */
  RLX_DERIVED_DIM = 8,     /* a dim, or a relation of symbols, such as n * 4: expected, actual */
  RLX_DIM_BOUNDS = 9,      /* a symbol is outside of its declared range: expected: bound or multiple that it violates */
  RLX_STRIDES = 10,        /* strides that this tensor may not have: expected, actual stride of the axis */
  RLX_ALIGNMENT = 11,      /* expected: alignment of the element in bytes, actual: address modulo that */
  RLX_CAPACITY = 12,   /* an output of exact shape is too small: expected, actual elements (or extent of the axis) */
  RLX_OVERLAP = 13,    /* two buffers share bytes undeclared: actual: the other tensor, -1: arena, -2: weights,
                        * -3 - k: pool k */
  RLX_ARENA_SIZE = 14, /* expected, actual bytes; a null arena counts as 0 */
  RLX_ARENA_ALIGNMENT = 15,   /* expected: alignment in bytes, actual: address modulo that */
  RLX_WEIGHTS_SIZE = 16,      /* expected, actual bytes, of the caller's memory or in the file's header */
  RLX_WEIGHTS_HASH = 17,      /* weights of another model; axis: the first byte that differs: expected, actual */
  RLX_WEIGHTS_ALIGNMENT = 18, /* expected: alignment in bytes, actual: address modulo that */
  RLX_ABI_MISMATCH = 19,      /* expected, actual version (or size of the context record) */
  RLX_SIZE_OVERFLOW = 20,     /* a size does not fit the address space, or an index expression does not fit int64 */
  RLX_BROADCAST = 21,         /* two dims must broadcast but are neither equal nor 1: expected, actual */
  RLX_NEEDS_DATA = 22,        /* the answer depends on values of inputs whose data was null in bind */
  RLX_CPU_FEATURES = 23,      /* the CPU lacks what the object's code needs: expected, actual RLX_CPU_* bits */
  RLX_POOL_SIZE = 24,         /* expected, actual bytes of the pool `axis`; one that is missing or null counts as 0 */
  RLX_POOL_ALIGNMENT = 25,    /* expected: alignment of the pool `axis`, actual: its address modulo that */

  /* Errors that only the data can cause; outputs are unspecified after these. */
  RLX_INDEX_RANGE = 32,     /* an index points outside its axis: expected: extent, actual: index */
  RLX_DATA_CAPACITY = 33,   /* a data-dependent output does not fit: expected: needed elements, actual: capacity */
  RLX_ASSERTION = 34,       /* an assertion of the source program failed; node tells which one */
  RLX_EXTERNAL_FAILED = 35, /* an external function returned an error: actual */
  RLX_RECURSION_DEPTH = 36, /* a recursive function went deeper than its limit: expected */
  RLX_NO_ALLOCATOR = 37,    /* a size without a bound needs context->alloc, which is null */
  RLX_OUT_OF_MEMORY = 38,   /* context->alloc returned null: expected: bytes */
  RLX_POLLED = 39,          /* context->poll ended the run: actual: what it returned */
  RLX_DATA_BOUND = 40,      /* a size found in the data exceeds the bound it was planned by: expected: bound, actual */
  RLX_OBJECT_KIND = 41,     /* a handle points to an object of another kind: expected, actual rlx_object.kind */
  RLX_SELFTEST = 42,        /* the weights (tensor -1: expected, actual CRC-32), or an output (actual: the element) */
  RLX_NODE_LIMIT = 43,      /* more nodes of algebraic data than the limit: expected, actual */

  /* From the hosted helpers (relax_rt_hosted.h). */
  RLX_FILE_IO = 64,     /* a file cannot be opened, sized or mapped: actual: errno */
  RLX_FILE_FORMAT = 65, /* not a weights file */

  RLX_STATUS_WIDTH_ = 0x7fffffff
} rlx_status;

/* A tensor, with the layout of DLPack's DLTensor, so that arrays of other libraries are passed without a copy. */
typedef struct rlx_tensor {
  void* data; /* may be null if the tensor has no elements; in bind, null makes the call a shape query */
  int32_t device_type, device_id; /* 1, 0: CPU */
  int32_t ndim;
  uint8_t dtype_code, dtype_bits; /* RLX_DTYPE_* */
  uint16_t dtype_lanes;           /* 1 */
  int64_t*
      shape; /* an input's extents; an output: capacity per dim in (only the product counts when compact), size out */
  int64_t* strides;     /* in elements; null for compact row-major */
  uint64_t byte_offset; /* offset of the first element from data */
} rlx_tensor;

#define RLX_DEVICE_CPU 1

/* DLPack's type codes. */
#define RLX_DTYPE_INT     0
#define RLX_DTYPE_UINT    1
#define RLX_DTYPE_FLOAT   2
#define RLX_DTYPE_HANDLE  3
#define RLX_DTYPE_BFLOAT  4
#define RLX_DTYPE_COMPLEX 5
#define RLX_DTYPE_BOOL    6
#define RLX_DTYPE_OWN     0xC0 /* codes that DLPack does not define start here */

/* What a check found. Only written if a call returns something other than RLX_OK. Indices refer to the model's tables
 * and are -1 if they do not apply; outputs count after inputs. rlx_error_text makes a sentence of it. */
typedef struct rlx_error {
  int32_t code; /* the rlx_status that the call returned */
  int32_t tensor, axis, symbol, node;
  int64_t expected, actual;
} rlx_error;

/* What a handle may point to if a program looks into it: R.match_cast of an R.Object to a tensor, shape or scalar
 * checks `kind` and the tensor (a shape is a vector of int64, a scalar has rank 0). Kinds from 64 on are the program's
 * own; no function of relaxc looks into them. A handle that is only passed on may be any pointer. */
#define RLX_OBJECT_TENSOR 0
#define RLX_OBJECT_SHAPE  1
#define RLX_OBJECT_SCALAR 2
#define RLX_OBJECT_OTHER  64

typedef struct rlx_object {
  uint32_t kind;
  uint32_t reserved; /* 0 */
  rlx_tensor tensor;
} rlx_object;

/* Memory besides the arena (relaxc --pool), with the arena's alignment; it need not be cleared. */
typedef struct rlx_memory_pool {
  void* data;
  uint64_t bytes;
} rlx_memory_pool;

/* What one call of a model may use. A plain record, owned by the caller and initialized with RLX_CONTEXT_INIT;
 * concurrent calls need one each. An object reads nothing past struct_size and accepts a larger one. */
typedef struct rlx_context {
  uint32_t abi_version, struct_size;
  void* arena; /* scratch of at least what arena_bytes() gives, aligned to arena_align; needs no clearing */
  uint64_t arena_bytes;
  const void* weights; /* the mapped weights file, if weights are separate */
  uint64_t weights_bytes;
  rlx_error* error; /* null: no error record */
  /* Runs task(arg, 0) ... task(arg, tasks - 1) in any order on any cores, returns after all have ended, and is a full
   * memory barrier; never nested. Returns RLX_OK or the result of a failing task. If null, loops run serially. */
  int32_t (*parallel_for)(void* user, int32_t tasks, int32_t (*task)(void* arg, int32_t index), void* arg);
  void* parallel_user;
  int32_t num_threads; /* how many tasks parallel_for runs at the same time; 0: unknown */
  void* (*alloc)(void* user, uint64_t bytes, uint64_t align); /* only called by models whose manifest says so */
  void* alloc_user;
  void (*trace)(void* user, int32_t node, int32_t begin); /* called around every kernel, if compiled in */
  void* trace_user;
  int32_t (*poll)(void* user, int32_t node); /* non-zero ends the run; called if compiled in */
  void* poll_user;
  /* RLX_CPU_* bits; 0: the first call that needs them asks the CPU and stores the answer here. An object runs the best
   * version of its code that these allow. */
  uint64_t cpu_features;
  const rlx_memory_pool* pools; /* one for each of rlx_function.pools */
  uint32_t num_pools;
} rlx_context;

/* Initializes a context with the version and size of this header's record; all other fields are zero. */
#define RLX_CONTEXT_INIT                                                                                             \
  {                                                                                                                  \
    RLX_ABI_VERSION, sizeof(rlx_context), NULL, 0, NULL, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, \
        0, NULL, 0                                                                                                   \
  }

/* A dim that becomes known when the model is called. */
typedef struct rlx_symbol {
  const char* name;
  int64_t lower, upper; /* both inclusive; upper is INT64_MAX if unbounded */
  int64_t multiple_of;  /* 1: any */
} rlx_symbol;

/* How integers represent real numbers: real = scale * (stored - zero_point). */
typedef struct rlx_quant {
  int32_t axis; /* -1: one pair for the whole tensor */
  uint32_t count;
  const float* scale;
  const int32_t* zero_point;
} rlx_quant;

/* rlx_tensor_spec.kind */
#define RLX_KIND_TENSOR   0
#define RLX_KIND_SHAPE    1 /* a 1-D int64 tensor */
#define RLX_KIND_SCALAR   2 /* a tensor of rank 0 */
#define RLX_KIND_STRING   3
#define RLX_KIND_SEQUENCE 4
#define RLX_KIND_OPTIONAL 5
#define RLX_KIND_MAP      6
#define RLX_KIND_HANDLE   7

/* rlx_tensor_spec.flags */
#define RLX_FLAG_STRIDED        1 /* an input that accepts any strides */
#define RLX_FLAG_DATA_DEPENDENT 2 /* an output whose size is known only after the run: any capacity is accepted */
#define RLX_FLAG_VALUES         4 /* an input whose values decide shapes, so that bind reads its data */

/* rlx_tensor_spec.dims: a number >= 0, RLX_DIM_SYMBOL(k) for symbol k, or RLX_DIM_DERIVED for other expressions */
#define RLX_DIM_SYMBOL(k) (-1 - (int64_t)(k))
#define RLX_DIM_DERIVED   INT64_MIN

/* The description of an input or output. */
typedef struct rlx_tensor_spec {
  const char* name;
  uint8_t kind, dtype_code, dtype_bits, flags;
  int32_t ndim;
  const int64_t* dims;
  const rlx_quant* quant;                /* null: none */
  int32_t pair;                          /* a state: index of the output (input) paired with it; -1: none */
  int32_t append_axis;                   /* a state that grows along this axis; -1: none */
  const struct rlx_tensor_spec* element; /* of a sequence, optional or map */
} rlx_tensor_spec;

/* A memory pool that calls need. */
typedef struct rlx_memory_pool_spec {
  const char* name;
  uint64_t bytes; /* enough for all sizes; if 0, the pool may be null */
} rlx_memory_pool_spec;

/* An entry point. */
typedef struct rlx_function {
  const char* name;
  uint32_t num_inputs, num_outputs, num_symbols, num_nodes;
  const rlx_tensor_spec *inputs, *outputs;
  const rlx_symbol* symbols;
  const char* const* nodes; /* emitted kernels, by the index that trace and poll receive; what rlx_error.node says */
  uint64_t arena_max;       /* size of an arena that serves all sizes; UINT64_MAX: unbounded */
  uint64_t stack_max;       /* bytes of stack that run needs; UINT64_MAX: unknown */
  uint32_t arena_align;
  /* Checks inputs and solves the symbols. With null data pointers it is a shape query: symbols that come from values
   * are INT64_MIN. context may be null unless there are external shape functions; error may be null. */
  int32_t (*bind)(rlx_context* context, const rlx_tensor* in, uint32_t num_in, int64_t* symbols, rlx_error* error);
  /* Gives the dims of output `index`: exact, or upper bounds if data-dependent (INT64_MAX if there is none). */
  int32_t (*output_shape)(const int64_t* symbols, uint32_t index, int64_t* dims);
  /* Gives the exact number of bytes that run needs for these symbols. */
  int32_t (*arena_bytes)(const int64_t* symbols, uint64_t* bytes);
  /* Makes all checks, then computes. */
  int32_t (*run)(rlx_context* context, const rlx_tensor* in, uint32_t num_in, rlx_tensor* out, uint32_t num_out);
  const rlx_memory_pool_spec* pools;
  uint32_t num_pools;
} rlx_function;

/* The descriptor of a model, which is all that a loader needs: dlsym("<name>_model"). */
typedef struct rlx_model {
  uint32_t abi_version;
  uint16_t function_size, spec_size; /* loaders must step by these, not by sizeof, so that records can grow */
  uint32_t num_functions;
  const rlx_function* functions;
  const char *name, *producer, *target;
  const uint8_t* hash;    /* 32 bytes: of input, flags and compiler; also in the weights file's header */
  uint64_t weights_bytes; /* size of the weights file with its header; 0 if weights are in the object */
} rlx_model;

/* The start of a separate weights file, in the byte order of the target. context->weights points to it, and offsets in
 * the object are relative to it. */
typedef struct rlx_weights_header {
  uint8_t magic[8]; /* RLX_WEIGHTS_MAGIC */
  uint32_t abi_version;
  uint32_t header_bytes; /* offset of the first weight at the earliest */
  uint64_t bytes;        /* size of the whole file */
  uint8_t hash[32];      /* rlx_model.hash of the object that belongs to it */
  uint8_t reserved[8];   /* zero */
} rlx_weights_header;

#define RLX_WEIGHTS_MAGIC "RLXWGHT" /* seven letters and the terminating zero */

/* rlx_context.cpu_features. rlx_cpu_features() always sets RLX_CPU_KNOWN, so that "none" differs from "unknown".
 */
#define RLX_CPU_KNOWN       (UINT64_C(1) << 63)
#define RLX_CPU_SSE42       (UINT64_C(1) << 0) /* with all before it: SSE3, SSSE3, SSE4.1, POPCNT, CMPXCHG16B */
#define RLX_CPU_AVX2        (UINT64_C(1) << 1)
#define RLX_CPU_FMA         (UINT64_C(1) << 2)
#define RLX_CPU_F16C        (UINT64_C(1) << 3)
#define RLX_CPU_AVX512      (UINT64_C(1) << 4) /* F, BW, CD, DQ and VL together */
#define RLX_CPU_AVX512_VNNI (UINT64_C(1) << 5)
#define RLX_CPU_AVX_VNNI    (UINT64_C(1) << 6)
#define RLX_CPU_BMI         (UINT64_C(1) << 7) /* BMI1, BMI2, LZCNT and MOVBE together */
#define RLX_CPU_NEON        (UINT64_C(1) << 16)
#define RLX_CPU_DOTPROD     (UINT64_C(1) << 17)
#define RLX_CPU_I8MM        (UINT64_C(1) << 18)
#define RLX_CPU_FP16        (UINT64_C(1) << 19)
#define RLX_CPU_SVE         (UINT64_C(1) << 20)

/* Returns the name of a status as above, without the prefix; "UNKNOWN" for other numbers. Never null. */
const char* rlx_status_name(int32_t status);

/* Writes an error record as one sentence, such as "Reshape 'view_3': 480 elements become 672" or "input 'image': dim 2
 * is 31, must be a multiple of 8". Writes at most `size` bytes including a terminating zero, and returns the length of
 * the whole sentence without it. `text` may be null if `size` is 0. */
size_t rlx_error_text(const rlx_model* model, const rlx_function* function, const rlx_error* error, char* text,
                      size_t size);

/* Returns what the CPU and its operating system support: RLX_CPU_KNOWN and the bits above. */
uint64_t rlx_cpu_features(void);

/* Called for R.print, piece by piece: prints the bytes of `text`, then `value` as `kind` says. Only objects that print
 * refer to it. relax_rt has one that does nothing and keeps the object freestanding; relax_rt_hosted, linked before it,
 * has one that writes to the standard output; a program may define its own. A status other than RLX_OK ends the run
 * with RLX_EXTERNAL_FAILED. */
int32_t rlx_print(rlx_context* context, const rlx_tensor* text, const rlx_tensor* value, int64_t kind);

#define RLX_PRINT_NOTHING 0 /* `value` must be ignored */
#define RLX_PRINT_TENSOR  1
#define RLX_PRINT_SHAPE   2 /* a vector of int64 */
#define RLX_PRINT_SCALAR  3 /* of rank 0 */

/* Every entry point of an object refers to this symbol, so that an object of another ABI version does not link. */
extern const uint32_t rlx_abi_1;

#ifdef __cplusplus
}
#endif

#endif
