// c_type.h: the types that generated C declares elements with.
#pragma once

#include <string>

#include "compiler/support/dtype.h"

namespace relaxc::interface {

/// "float", "int64_t", …; the stored bits ("uint16_t") where C99 has no such type. A complex element counts as its two
/// parts.
const char* c_type(DType dtype);
/// A finite float as C writes it, with as many digits as distinguish it from its neighbours.
std::string float_literal(float value);

}  // namespace relaxc::interface
