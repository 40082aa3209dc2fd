// sort_key.h: elements of any dtype as unsigned integers of the same order.
//
// Two comparisons, of values and of NaNs, become one that every machine has in vectors, and digits of a key can count.
#pragma once

#include "compiler/ops/common/family.h"

namespace relaxc::ops {

/// The dtype of the keys of elements of `dtype`: an unsigned integer of 8, 16, 32 or 64 bits.
DType sort_key_dtype(DType dtype);

/// A number that is smaller where an element comes first in ascending (descending) order. Elements that are equal have
/// one key, zeros of either sign among them; NaN counts as larger than all numbers, and all NaNs are one.
Expr sort_key(Expr element, bool descending);

}  // namespace relaxc::ops
