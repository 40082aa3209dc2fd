// bounds_note.h: the note on dims that the user could bound.
#pragma once

#include <string>
#include <vector>

#include "compiler/transform/lower/suggested_bounds.h"

namespace relaxc::driver {

/// Returns what bounds would improve, with flags as an example; empty if nothing. `several`: several models share the
/// object, so the flags name the model.
std::string bounds_note(const std::vector<lower::SuggestedBounds>& helpful, bool several);

}  // namespace relaxc::driver
