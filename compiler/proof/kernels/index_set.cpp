// index_set.cpp: see index_set.h.
#include "compiler/proof/kernels/index_set.h"

#include <algorithm>
#include <random>
#include <set>

namespace relaxc::proof {

using arith::Range;

IndexSet united(IndexSet a, const IndexSet& b) {
  constexpr size_t kMostRanges = 16;
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end(), [](Range x, Range y) { return x.lower < y.lower; });
  IndexSet all;
  for (const Range range : a) {
    const bool touches = !all.empty() && (all.back().upper == INT64_MAX || range.lower <= all.back().upper + 1);
    if (touches)
      all.back().upper = std::max(all.back().upper, range.upper);
    else
      all.push_back(range);
  }
  if (all.size() > kMostRanges) return {{all.front().lower, all.back().upper}};
  return all;
}

IndexSet intersected(const IndexSet& set, Range range) {
  IndexSet inside;
  for (const Range one : set) {
    const Range both{std::max(one.lower, range.lower), std::min(one.upper, range.upper)};
    if (both.lower <= both.upper) inside.push_back(both);
  }
  return inside;
}

IndexSet with_outside(IndexSet set, int64_t count) {
  return united(std::move(set), {{INT64_MIN, -1}, {count, INT64_MAX}});
}

namespace {

constexpr size_t kMostIndices = 8;

IndexSet set_of(const std::set<int64_t>& indices) {
  IndexSet set;
  for (const int64_t index : indices) set = united(std::move(set), {{index, index}});
  return set;
}

}  // namespace

IndexSet chosen_indices(int64_t count, std::span<const int64_t> borders) {
  constexpr size_t kMostBorders = 2;
  std::vector<int64_t> wanted = {0, count - 1};
  for (size_t i = 0; i < borders.size() && i < kMostBorders; ++i) {
    wanted.push_back(borders[i] - 1);
    wanted.push_back(borders[i]);
  }
  for (const int64_t other :
       {int64_t{1}, int64_t{2}, int64_t{3}, count - 2, count / 2, count - 3, int64_t{4}, int64_t{5}})
    wanted.push_back(other);
  std::set<int64_t> chosen;
  for (const int64_t index : wanted)
    if (index >= 0 && index < count && chosen.size() < kMostIndices) chosen.insert(index);
  return set_of(chosen);
}

IndexSet drawn_indices(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::set<int64_t> drawn;
  for (size_t i = 0; i < kMostIndices && count > 0; ++i)
    drawn.insert(static_cast<int64_t>(random() % static_cast<uint64_t>(count)));
  return set_of(drawn);
}

std::vector<int64_t> positions_of(std::span<const IndexSet> dims, std::span<const int64_t> shape) {
  std::vector<int64_t> positions = {0};
  for (size_t d = 0; d < dims.size(); ++d) {
    std::vector<int64_t> longer;
    for (const int64_t outer : positions)
      for (const Range range : intersected(dims[d], {0, shape[d] - 1}))
        for (int64_t i = range.lower; i <= range.upper; ++i) longer.push_back(outer * shape[d] + i);
    positions = std::move(longer);
  }
  return positions;
}

}  // namespace relaxc::proof
