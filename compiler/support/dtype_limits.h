// dtype_limits.h: limits of dtypes.
#pragma once

#include "compiler/support/dtype.h"

namespace relaxc {

/// Returns the largest finite value of a float dtype.
double largest_finite(DType dtype);

}  // namespace relaxc
