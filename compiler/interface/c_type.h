// c_type.h: the C types of elements.
#pragma once

#include <string>

#include "compiler/support/dtype.h"

namespace relaxc::interface {

/// Returns "float", "int64_t", …; the type of the stored bits ("uint16_t") where C99 has no such type. A complex
/// element has the type of its two parts.
const char* c_type(DType dtype);
/// Returns a finite float as a C literal, with as many digits as distinguish it from its neighbours.
std::string float_literal(float value);

}  // namespace relaxc::interface
