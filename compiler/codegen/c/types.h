// types.h: dtypes as C types.
//
// Small floats are stored as their bits and computed as float, rounded after every operation; a bool is stored as a
// byte.
#pragma once

#include <string>

#include "compiler/support/dtype.h"

namespace relaxc::codegen_c {

/// The type of an element in memory: "float", "uint16_t" for a float16.
std::string memory_type(DType dtype);
/// The type of a value in an expression: "float" for a float16, "int" for a bool.
std::string value_type(DType dtype);
/// Stored as bits that C has no arithmetic for: float16, bfloat16, float8.
bool is_small_float(DType dtype);
/// "f16", "bf16", "f8e4m3fn": the part of a helper's name that says the dtype.
std::string suffix(DType dtype);

}  // namespace relaxc::codegen_c
