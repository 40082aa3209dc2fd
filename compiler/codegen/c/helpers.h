// helpers.h: the small C functions that emitted code calls for operations that C leaves undefined or does not have.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "compiler/codegen/c/profile.h"

namespace relaxc::codegen_c {

/// Returns the definitions of the helpers in `used` and of those that they call, in a fixed order, `static inline`.
std::string helper_text(const std::set<std::string>& used, Profile profile);

/// The text of the function in runtime-lite/core/reduce_angle.h; CMake generates the definition.
extern const std::string_view kReduceAngleText;

}  // namespace relaxc::codegen_c
