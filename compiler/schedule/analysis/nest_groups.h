// nest_groups.h: which of a kernel's nests are scheduled together.
#pragma once

#include <vector>

#include "compiler/schedule/analysis/group.h"

namespace relaxc::schedule {

/// Consecutive statements that are scheduled together.
struct NestGroup {
  size_t begin = 0, end = 0;     ///< statements [begin, end)
  std::vector<uint32_t> blocks;  ///< the blocks of its nests; empty for a statement that is not a nest
  bool reduces = false;          ///< the group is a reduction with its initialization and its consumers
  bool fills = false;            ///< the first nest stores the initial value
};

/// Divides the statements into groups: a reduction with the nest that initializes it and the consumers that follow over
/// the same axes; every other statement by itself.
std::vector<NestGroup> nest_groups(const std::vector<Stmt>& parts);

/// Divides a group into its nests; an initializing nest stays with its reduction.
std::vector<NestGroup> without_consumers(const NestGroup& group);

}  // namespace relaxc::schedule
