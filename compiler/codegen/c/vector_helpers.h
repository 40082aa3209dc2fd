// vector_helpers.h: the vector types of GCC and clang, and functions on them, that emitted code uses.
#pragma once

#include <set>
#include <string>

namespace relaxc::codegen_c {

/// Helpers of VectorExpression end in an element type and a number of lanes: "fma_f32x8".
bool is_vector_helper(const std::string& name);

/// Types and functions of all of `used`, each of which is_vector_helper, in a fixed order.
std::string vector_helper_text(const std::set<std::string>& used);

}  // namespace relaxc::codegen_c
