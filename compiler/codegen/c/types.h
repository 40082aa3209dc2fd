// types.h: the C types of dtypes.
//
// Small floats are stored as their bits and computed as float, rounded after every operation; a bool is stored as a
// byte.
#pragma once

#include <string>

#include "compiler/support/dtype.h"

namespace relaxc::codegen_c {

/// Returns the type of an element in memory: "float"; "uint16_t" for a float16.
std::string memory_type(DType dtype);
/// Returns the type of a value in an expression: "float" for a float16, "int" for a bool.
std::string value_type(DType dtype);
/// Whether the dtype is stored as bits for which C has no arithmetic: float16, bfloat16, float8.
bool is_small_float(DType dtype);
/// Returns the part of a helper's name that stands for the dtype: "f16", "bf16", "f8e4m3fn".
std::string suffix(DType dtype);

}  // namespace relaxc::codegen_c
