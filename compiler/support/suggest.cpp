// suggest.cpp: finds the nearest of some names.
//
// A name is near if its distance is at most a third of the longer name, or one edit, so that `b` may suggest `n`: for
// such short names the reader sees at once whether the guess is right. Names of hundreds of characters are not
// compared, since the work is quadratic.
#include "compiler/support/suggest.h"

#include <algorithm>

namespace relaxc {
namespace {

constexpr size_t kLongestName = 100;

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replace = last[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  size_t least = 0;
  if (name.size() > kLongestName) return best;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    size_t near = std::max<size_t>(1, std::max(name.size(), candidate.size()) / 3);
    size_t distance = edit_distance(name, candidate);
    if (distance > near || (best && distance >= least)) continue;
    best = candidate;
    least = distance;
  }
  return best;
}

std::optional<std::string> nearest_path(std::string_view name, const std::vector<std::string>& candidates) {
  if (std::optional<std::string> whole = nearest_name(name, candidates)) return whole;
  auto last_part = [](std::string_view path) {
    size_t dot = path.rfind('.');
    return std::string(dot == std::string_view::npos ? path : path.substr(dot + 1));
  };
  std::vector<std::string> parts;
  for (const std::string& candidate : candidates) parts.push_back(last_part(candidate));
  std::optional<std::string> near = nearest_name(last_part(name), parts);
  if (!near) return near;
  return candidates[static_cast<size_t>(std::find(parts.begin(), parts.end(), *near) - parts.begin())];
}

}  // namespace relaxc
