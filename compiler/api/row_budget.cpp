// row_budget.cpp: see row_budget.h.
#include "compiler/api/row_budget.h"

#include <algorithm>

#include "compiler/api/report/budget.h"

namespace relaxc::api {

namespace {

constexpr int kMostTries = 4;       ///< trials between no limit and the least possible one
constexpr int64_t kLeastStep = 64;  ///< bytes by which the limit decreases at least: a cache line
constexpr int64_t kAsLittleAsCan = 1;

}  // namespace

std::optional<uint64_t> memory_of(const interface::Object& object) {
  uint64_t most = 0;
  for (const interface::Entry& entry : object.entries) {
    if (entry.arena_max == UINT64_MAX) return std::nullopt;
    uint64_t bytes = entry.arena_max;
    for (const interface::Pool& pool : entry.pools) bytes += pool.bytes;
    most = std::max(most, bytes);
  }
  return most;
}

int64_t find_row_budget(uint64_t ram_budget, const TryRows& memory_with) {
  const std::optional<uint64_t> whole = memory_with(0);
  if (!whole || (*whole <= ram_budget && ram_budget != kLeastRam)) return 0;
  int64_t least = 0;  // the budget that has needed the least memory so far
  uint64_t least_bytes = *whole;
  auto bytes_with = [&](int64_t row_budget) {
    const uint64_t bytes = memory_with(row_budget).value_or(UINT64_MAX);
    if (bytes < least_bytes) least = row_budget, least_bytes = bytes;
    return bytes;
  };
  auto next = static_cast<int64_t>(std::min<uint64_t>(ram_budget, INT64_MAX));
  for (int tries = 0; tries < kMostTries && next > kAsLittleAsCan && ram_budget != kLeastRam; ++tries) {
    const uint64_t bytes = bytes_with(next);
    if (bytes <= ram_budget) return next;
    next -= std::max(static_cast<int64_t>(std::min<uint64_t>(bytes - ram_budget, INT64_MAX)), kLeastStep);
  }
  // The least possible budget may need more scratch memory than a slightly larger one.
  if (bytes_with(kAsLittleAsCan) > ram_budget && least_bytes != *whole) bytes_with(static_cast<int64_t>(least_bytes));
  return least;
}

}  // namespace relaxc::api
