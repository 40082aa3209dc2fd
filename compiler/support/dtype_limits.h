// dtype_limits.h: the ends of what a dtype can hold.
#pragma once

#include "compiler/support/dtype.h"

namespace relaxc {

/// The largest finite value of a float dtype.
double largest_finite(DType dtype);

}  // namespace relaxc
