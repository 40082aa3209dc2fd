// helpers.h: the small C functions that emitted code calls for what C's operators do not define.
#pragma once

#include <set>
#include <string>

#include "compiler/codegen/c/profile.h"

namespace relaxc::codegen_c {

/// The text of every helper in `used` and of those they use themselves, in a fixed order, each `static inline`.
std::string helper_text(const std::set<std::string>& used, Profile profile);

}  // namespace relaxc::codegen_c
