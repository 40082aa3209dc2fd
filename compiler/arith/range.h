// range.h: interval arithmetic on Range; internal to arith.
#pragma once

#include "compiler/arith/facts.h"

namespace relaxc::arith {

// Results saturate: a bound that would overflow becomes "no bound".
Range add(Range a, Range b);
Range multiply(Range a, Range b);
/// Division that rounds down (or to zero). A divisor that may be 0 or of either sign gives no bound except the
/// dividend's magnitude.
Range floor_divide(Range a, Range b);
Range truncated_divide(Range a, Range b);
/// The remainder of division that rounds down (or to zero).
Range floor_remainder(Range a, Range b);
Range truncated_remainder(Range a, Range b);
Range intersect(Range a, Range b);
Range hull(Range a, Range b);
/// Return the range of the minimum (maximum) of two values.
Range smaller(Range a, Range b);
Range larger(Range a, Range b);

int64_t floor_divide(int64_t a, int64_t b);     ///< b != 0; INT64_MIN / -1 is INT64_MAX
int64_t floor_remainder(int64_t a, int64_t b);  ///< b != 0; has the sign of b

}  // namespace relaxc::arith
