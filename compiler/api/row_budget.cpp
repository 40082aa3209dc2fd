// row_budget.cpp: see row_budget.h.
#include "compiler/api/row_budget.h"

#include <algorithm>

#include "compiler/api/report/budget.h"

namespace relaxc::api {

namespace {

constexpr int kMostTries = 4;       ///< trials for a budget
constexpr int64_t kLeastStep = 64;  ///< bytes by which the limit decreases at least: a cache line
constexpr int64_t kAsLittleAsCan = 1;

int64_t as_limit(uint64_t bytes) {
  return static_cast<int64_t>(std::min<uint64_t>(bytes, INT64_MAX));
}

/// Returns the value with which the memory is at most `ram_budget`; nullopt if none is found.
std::optional<int64_t> value_within(uint64_t ram_budget, const TryRows& memory_with) {
  int64_t next = as_limit(ram_budget);
  for (int tries = 0; tries < kMostTries && next > kAsLittleAsCan; ++tries) {
    const uint64_t bytes = memory_with(next).value_or(UINT64_MAX);
    if (bytes <= ram_budget) return next;
    next -= std::max(as_limit(bytes - ram_budget), kLeastStep);
  }
  return std::nullopt;
}

/// Returns the value that needs the least memory of those that are tried. The lowest value may need more scratch memory
/// than a larger one, so parts of the memory that it needs are tried as values, and lower ones while they need less.
int64_t value_of_least(uint64_t whole, const TryRows& memory_with) {
  int64_t least = 0;
  uint64_t least_bytes = whole;
  auto improves = [&](int64_t value) {
    const uint64_t bytes = memory_with(value).value_or(UINT64_MAX);
    if (bytes >= least_bytes) return false;
    least = value, least_bytes = bytes;
    return true;
  };
  if (!improves(kAsLittleAsCan)) return least;
  const int64_t eighth = as_limit(least_bytes / 8);
  for (const int64_t eighths : {8, 6, 4, 3, 2}) improves(eighth * eighths);
  for (int tries = 1; tries < kMostTries && as_limit(least_bytes) > kLeastStep; ++tries)
    if (!improves(as_limit(least_bytes) - kLeastStep)) break;
  return least;
}

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
  if (ram_budget != kLeastRam)
    if (const std::optional<int64_t> found = value_within(ram_budget, memory_with)) return *found;
  return value_of_least(*whole, memory_with);
}

}  // namespace relaxc::api
