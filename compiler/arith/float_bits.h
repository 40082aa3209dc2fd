// float_bits.h: converts floats of every format to and from bits, on any host.
#pragma once

#include <cstdint>

#include "compiler/support/dtype.h"

namespace relaxc::arith {

/// Returns the bits of `value` rounded to a float dtype (ties to even), with the format's rules for overflow and NaN.
uint64_t encode_float(DType dtype, double value);
/// Returns the exact value of the low `dtype.bits` bits.
double decode_float(DType dtype, uint64_t bits);

}  // namespace relaxc::arith
