// float_bits.h: floats of every format as bits, on any host.
#pragma once

#include <cstdint>

#include "compiler/support/dtype.h"

namespace relaxc::arith {

/// The bits of `value` rounded to a float dtype (ties to even); overflow and NaN as the format has them.
uint64_t encode_float(DType dtype, double value);
/// The exact value of the low `dtype.bits` bits.
double decode_float(DType dtype, uint64_t bits);

}  // namespace relaxc::arith
