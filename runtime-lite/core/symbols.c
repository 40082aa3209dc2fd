/* symbols.c: checks the values of symbols against their declarations, and computes dims from symbols.
 *
 * A symbol with the value INT64_MIN is not known yet: it comes from values of inputs without data. Dims that depend on
 * it stay RLX_DIM_DERIVED, and a function that needs them returns RLX_NEEDS_DATA. */
#include "guard.h"

int32_t rlx_check_symbols(rlx_guard* guard) {
  rlx_guard_forget(guard);
  for (uint32_t k = 0; k < guard->function->num_symbols; ++k) {
    const rlx_symbol* symbol = &guard->function->symbols[k];
    const int64_t value = guard->symbols[k];
    int64_t rest = 0;
    if (value == INT64_MIN) continue;
    guard->found.symbol = (int32_t)k;
    if (guard->self->sources[k].kind != RLX_SOURCE_VALUE) {
      guard->found.tensor = guard->self->sources[k].tensor;
      guard->found.axis = guard->self->sources[k].axis;
    }
    if (value < symbol->lower) return rlx_guard_fail(guard, RLX_DIM_BOUNDS, symbol->lower, value);
    if (value > symbol->upper) return rlx_guard_fail(guard, RLX_DIM_BOUNDS, symbol->upper, value);
    if (symbol->multiple_of > 1) rest = value % symbol->multiple_of;
    if (rest != 0) return rlx_guard_fail(guard, RLX_DIM_BOUNDS, symbol->multiple_of, value);
    rlx_guard_forget(guard);
  }
  return RLX_OK;
}

void rlx_fill_dims(rlx_guard* guard) {
  const rlx_function* function = guard->function;
  int64_t* dims = guard->dims;
  for (uint32_t t = 0; t < function->num_inputs + function->num_outputs; ++t) {
    const rlx_tensor_spec* spec = rlx_spec(function, t);
    for (int32_t axis = 0; axis < spec->ndim; ++axis) {
      const int64_t dim = spec->dims[axis];
      *dims++ = dim < 0 && dim != RLX_DIM_DERIVED ? guard->symbols[-1 - dim] : dim;
    }
  }
}

int rlx_can_compute(const rlx_guard* guard) {
  if ((guard->self->flags & RLX_PRIVATE_PARTIAL) != 0) return 1;
  for (uint32_t k = 0; k < guard->function->num_symbols; ++k)
    if (guard->symbols[k] == INT64_MIN) return 0;
  return 1;
}

int32_t rlx_compute_dims(rlx_guard* guard) {
  rlx_fill_dims(guard);
  rlx_guard_forget(guard);
  if (guard->self->shapes == NULL || !rlx_can_compute(guard)) return RLX_OK;
  return guard->self->shapes(guard->symbols, guard->dims, &guard->found);
}
