// helpers.h: the small C functions that emitted code calls for what C's operators do not define.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "compiler/codegen/c/profile.h"

namespace relaxc::codegen_c {

/// The text of every helper in `used` and of those they use themselves, in a fixed order, each `static inline`.
std::string helper_text(const std::set<std::string>& used, Profile profile);

/// The function of runtime-lite/core/reduce_angle.h, put here by CMake.
extern const std::string_view kReduceAngleText;

}  // namespace relaxc::codegen_c
