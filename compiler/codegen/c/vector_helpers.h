// vector_helpers.h: the vector types of GCC and clang that emitted code uses, and functions on them.
#pragma once

#include <set>
#include <string>

namespace relaxc::codegen_c {

/// Whether `name` is a helper of VectorExpression; these end in an element type and a number of lanes: "fma_f32x8".
bool is_vector_helper(const std::string& name);

/// Returns the types and functions that `used` needs, in a fixed order; each name satisfies is_vector_helper.
std::string vector_helper_text(const std::set<std::string>& used);

}  // namespace relaxc::codegen_c
