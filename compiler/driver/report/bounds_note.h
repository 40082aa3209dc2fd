// bounds_note.h: a word on the dims that the user could bound.
#pragma once

#include <string>
#include <vector>

#include "compiler/transform/lower/suggested_bounds.h"

namespace relaxc::driver {

/// What bounds would give, with flags as an example; empty if there is nothing to gain. `several`: models share the
/// object, and flags say which of them they are about.
std::string bounds_note(const std::vector<lower::SuggestedBounds>& helpful, bool several);

}  // namespace relaxc::driver
