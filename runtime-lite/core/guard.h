/* guard.h: what the source files of the generic call share. Not installed.
 *
 * An rlx_guard is the state of one generic call. Loops store the tensor, axis and symbol that they look at in `found`,
 * so that a check that fails only has to add the code and two numbers. At the end it is copied to the caller's error
 * record, if a check failed.
 *
 * The caller's scratch words hold, in order: symbols (of run), dims, one pointer per tensor, two addresses per tensor.
 */
#ifndef RLX_CORE_GUARD_H
#define RLX_CORE_GUARD_H

#include "rlx_internal.h"

/* The bytes [begin, end) of memory; none if both are equal. */
typedef struct rlx_range {
  uintptr_t begin, end;
} rlx_range;

typedef struct rlx_guard {
  const rlx_function_private* self;
  const rlx_function* function;
  rlx_context* context; /* null is possible in bind only */
  const int64_t* symbols;
  int64_t* dims;     /* flat, inputs then outputs */
  void** pointers;   /* first elements, inputs then outputs; null if there is no data */
  rlx_range* ranges; /* memory of each tensor, inputs then outputs */
  rlx_error found;
} rlx_guard;

/* error.c */

/* Sets up a guard over the caller's scratch (null if only symbols are used); fails for tables of another version. */
int32_t rlx_guard_begin(rlx_guard* guard, const rlx_function_private* self, uint64_t* scratch, rlx_context* context);
/* Resets `found`: no place and no numbers. */
void rlx_guard_forget(rlx_guard* guard);
/* Stores the two numbers of a failed check and returns its code. */
int32_t rlx_guard_fail(rlx_guard* guard, rlx_status code, int64_t expected, int64_t actual);
/* Copies `found` to the caller's record, if there is one and `status` is not RLX_OK; returns `status`. */
int32_t rlx_guard_end(rlx_guard* guard, int32_t status, rlx_error* error);

/* size.c: results are saturated or checked, and never wrap around. */

/* Returns the product of the extents, which must be >= 0; INT64_MAX if it overflows; 0 if any is 0; 1 for rank 0. */
int64_t rlx_count(const int64_t* dims, int32_t rank);
/* Returns a * b for numbers >= 0; INT64_MAX if the product overflows. */
int64_t rlx_multiply(int64_t a, int64_t b);
/* Returns the bytes of `count` packed elements of `bits` bits; -1 if they do not fit the address space. */
int64_t rlx_bytes(int64_t count, uint32_t bits);
/* Returns the stride along `axis`: the given one, or the compact one (for which extents of 0 count as 1). */
int64_t rlx_stride(const int64_t* strides, const int64_t* dims, int32_t rank, int32_t axis);

/* tensor.c */

const rlx_tensor_spec* rlx_spec(const rlx_function* function, uint32_t tensor);
/* Checks device, dtype, rank and shape pointer of tensor `index` (inputs come before outputs). */
int32_t rlx_check_record(rlx_guard* guard, uint32_t index, const rlx_tensor* tensor);

#define RLX_LOCATE_DATA    1u /* null data is an error if there are elements */
#define RLX_LOCATE_STRIDED 2u /* any strides are accepted */
/* Checks size, strides, null data and alignment of tensor `index` with extents `dims` and `count` elements; sets its
 * pointer and range. */
int32_t rlx_locate(rlx_guard* guard, uint32_t index, const rlx_tensor* tensor, const int64_t* dims, int64_t count,
                   uint32_t how);

/* symbols.c */

/* Checks the declared bounds of all symbols whose values are known. */
int32_t rlx_check_symbols(rlx_guard* guard);
/* Returns whether shapes and arena can be computed: all symbols are known, or the functions accept unknown ones. */
int rlx_can_compute(const rlx_guard* guard);
/* Fills in dims that are numbers or single symbols; all others become RLX_DIM_DERIVED. */
void rlx_fill_dims(rlx_guard* guard);
/* Same, and then computes derived dims by the object's shape function, if all that it needs is known. */
int32_t rlx_compute_dims(rlx_guard* guard);

/* inputs.c: checks all inputs and solves `symbols`; then symbols, dims, pointers and ranges of inputs are set. */
int32_t rlx_check_inputs(rlx_guard* guard, const rlx_tensor* in, uint32_t num_in, int64_t* symbols, uint32_t how);

/* outputs.c: checks outputs, except for overlap; puts the capacity of data-dependent outputs into `dims`. */
int32_t rlx_check_outputs(rlx_guard* guard, const rlx_tensor* in, const rlx_tensor* out, uint32_t num_out);

/* context.c */

int32_t rlx_check_context(rlx_guard* guard);
/* Checks size and alignment of the arena; sets its range. */
int32_t rlx_check_arena(rlx_guard* guard, rlx_range* range);
/* Checks size and alignment of one of the function's pools; sets its range. */
int32_t rlx_check_pool(rlx_guard* guard, uint32_t pool, rlx_range* range);
/* Checks size, alignment, version and hash of separate weights; sets their range. */
int32_t rlx_check_weights(rlx_guard* guard, rlx_range* range);

/* overlap.c: checks that outputs share no byte with other memory except their own state, nor inputs with the arena. */
int32_t rlx_check_overlap(rlx_guard* guard, rlx_range arena, rlx_range weights);
/* Checks that a pool shares no byte with tensors, the arena, the weights and the pools before it. */
int32_t rlx_check_pool_overlap(rlx_guard* guard, uint32_t pool, rlx_range range, rlx_range arena, rlx_range weights);

#endif
