/* guard.h: what the files of the generic call share. Not installed.
 *
 * One rlx_guard is the state of one generic call. `found` is written as the loops walk: they put the tensor, axis and
 * symbol that they look at into it, so that a check that fails has only to add the code and the two numbers. It becomes
 * the caller's error record at the end, and only if something was found.
 *
 * The caller's scratch words hold, in order: symbols (of run), dims, one pointer per tensor, two addresses per tensor.
 */
#ifndef RLX_CORE_GUARD_H
#define RLX_CORE_GUARD_H

#include "rlx_internal.h"

/* Bytes of memory [begin, end); equal: nothing. */
typedef struct rlx_range {
  uintptr_t begin, end;
} rlx_range;

typedef struct rlx_guard {
  const rlx_function_private* self;
  const rlx_function* function;
  rlx_context* context; /* null is possible in bind only */
  const int64_t* symbols;
  int64_t* dims;     /* flat, inputs then outputs */
  void** pointers;   /* first elements, inputs then outputs; null where there is no data */
  rlx_range* ranges; /* memory of each tensor, inputs then outputs */
  rlx_error found;
} rlx_guard;

/* error.c */

/* Sets up a guard over the caller's scratch (null: symbols alone are looked at); refuses tables of another version. */
int32_t rlx_guard_begin(rlx_guard* guard, const rlx_function_private* self, uint64_t* scratch, rlx_context* context);
/* Forgets where the guard last looked. */
void rlx_guard_forget(rlx_guard* guard);
/* Notes the two numbers of a failed check and returns its code. */
int32_t rlx_guard_fail(rlx_guard* guard, rlx_status code, int64_t expected, int64_t actual);
/* Gives the record to the caller if there is one and `status` is not RLX_OK; returns `status`. */
int32_t rlx_guard_end(rlx_guard* guard, int32_t status, rlx_error* error);

/* size.c: all return values are saturated or checked. */

/* Product of the extents (each >= 0), INT64_MAX if it does not fit; 0 if any is 0; 1 for rank 0. */
int64_t rlx_count(const int64_t* dims, int32_t rank);
/* a * b where both are >= 0 and the product fits int64; otherwise INT64_MAX. */
int64_t rlx_multiply(int64_t a, int64_t b);
/* Bytes of `count` elements of `bits` bits, packed; -1 if they do not fit the address space. */
int64_t rlx_bytes(int64_t count, uint32_t bits);
/* The stride along `axis`: the given one, or the compact one (extents of 0 count as 1). */
int64_t rlx_stride(const int64_t* strides, const int64_t* dims, int32_t rank, int32_t axis);

/* tensor.c */

const rlx_tensor_spec* rlx_spec(const rlx_function* function, uint32_t tensor);
/* Device, dtype, rank and shape pointer of tensor `index` (inputs, then outputs). */
int32_t rlx_check_record(rlx_guard* guard, uint32_t index, const rlx_tensor* tensor);

#define RLX_LOCATE_DATA    1u /* null data with elements is an error */
#define RLX_LOCATE_STRIDED 2u /* any strides are accepted */
/* Size, strides, null data and alignment of tensor `index` with extents `dims` and `count` elements; sets its pointer
 * and range. */
int32_t rlx_locate(rlx_guard* guard, uint32_t index, const rlx_tensor* tensor, const int64_t* dims, int64_t count,
                   uint32_t how);

/* symbols.c */

/* Declared bounds of every symbol that is known. */
int32_t rlx_check_symbols(rlx_guard* guard);
/* Whether shapes and arena may be asked: every symbol is known, or they can do without. */
int rlx_can_compute(const rlx_guard* guard);
/* Fills static and bare dims of all tensors; the others become RLX_DIM_DERIVED. */
void rlx_fill_dims(rlx_guard* guard);
/* The same, and then the derived dims by the shape function, if it can be asked. */
int32_t rlx_compute_dims(rlx_guard* guard);

/* inputs.c: all guards on inputs; solves `symbols`; symbols, dims, pointers and ranges of inputs are set afterwards. */
int32_t rlx_check_inputs(rlx_guard* guard, const rlx_tensor* in, uint32_t num_in, int64_t* symbols, uint32_t how);

/* outputs.c: all guards on outputs but overlap; puts the capacity of data-dependent outputs into `dims`. */
int32_t rlx_check_outputs(rlx_guard* guard, const rlx_tensor* in, const rlx_tensor* out, uint32_t num_out);

/* context.c */

int32_t rlx_check_context(rlx_guard* guard);
/* Size and alignment of the arena; sets its range. */
int32_t rlx_check_arena(rlx_guard* guard, rlx_range* range);
/* Size and alignment of one of the function's pools; sets its range. */
int32_t rlx_check_pool(rlx_guard* guard, uint32_t pool, rlx_range* range);
/* Size, alignment, version and hash of separate weights; sets their range. */
int32_t rlx_check_weights(rlx_guard* guard, rlx_range* range);

/* overlap.c: no output shares a byte with anything but its own state, no input with the arena. */
int32_t rlx_check_overlap(rlx_guard* guard, rlx_range arena, rlx_range weights);
/* No tensor shares a byte with the pool, nor do the arena, the weights and the pools before it. */
int32_t rlx_check_pool_overlap(rlx_guard* guard, uint32_t pool, rlx_range range, rlx_range arena, rlx_range weights);

#endif
