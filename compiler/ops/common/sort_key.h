// sort_key.h: maps elements of any dtype to unsigned integers in the same order.
//
// A comparison of values and of NaNs becomes one comparison that all vector units have, and keys allow a radix sort.
#pragma once

#include "compiler/ops/common/family.h"

namespace relaxc::ops {

/// Returns the dtype of the keys of `dtype`: an unsigned integer of 8, 16, 32 or 64 bits.
DType sort_key_dtype(DType dtype);

/// Returns a key that is smaller for an element that precedes in ascending (descending) order. Equal elements have one
/// key, so do zeros of either sign; NaN counts as larger than all numbers, and all NaNs have one key.
Expr sort_key(Expr element, bool descending);

}  // namespace relaxc::ops
