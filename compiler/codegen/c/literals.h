// literals.h: prints constants as C literals.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/support/dtype.h"

namespace relaxc::codegen_c {

/// Returns `value` as a literal of its type; negative ones are in parentheses.
std::string integer_text(DType dtype, int64_t value);
/// Returns a literal that C reads back as the same float; NaN and infinities are those of <math.h>.
std::string float_text(DType dtype, double value);
std::string zero(DType dtype);

}  // namespace relaxc::codegen_c
