// suggest.h: finds the nearest name, for "did you mean".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace relaxc {

/// Returns the insertions, deletions, replacements and transpositions from `a` to `b` (optimal string alignment).
size_t edit_distance(std::string_view a, std::string_view b);
/// Returns the nearest candidate, the first of equally near ones; nullopt if none is similar enough.
std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& candidates);
/// The same for dotted names: the nearest, or else the one whose last part is nearest to the last part of `name`.
std::optional<std::string> nearest_path(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace relaxc
