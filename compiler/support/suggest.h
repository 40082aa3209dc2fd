// suggest.h: "did you mean": the nearest of some names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace relaxc {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal string alignment).
size_t edit_distance(std::string_view a, std::string_view b);
/// The candidate nearest to `name`, the earliest of equals; nothing if none is near enough to be what was meant.
std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& candidates);
/// The same for dotted names: the nearest, or one whose last part is nearest to the last part of `name`.
std::optional<std::string> nearest_path(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace relaxc
