// nest_groups.h: which of a kernel's nests are scheduled together.
#pragma once

#include <vector>

#include "compiler/schedule/analysis/group.h"

namespace relaxc::schedule {

/// Statements one behind the other.
struct NestGroup {
  size_t begin = 0, end = 0;     ///< places
  std::vector<uint32_t> blocks;  ///< of its nests; empty: it is not a nest
  bool reduces = false;          ///< a reduction, with what fills in before it and its consumers behind it
  bool fills = false;            ///< the first nest fills in the neutral element
};

/// The parts in groups: a reduction takes with it the nest that fills in its neutral element and the consumers that
/// follow over the same axes; all others are alone.
std::vector<NestGroup> nest_groups(const std::vector<Stmt>& parts);

/// Each nest of a group by itself, except the one that fills in before its reduction.
std::vector<NestGroup> without_consumers(const NestGroup& group);

}  // namespace relaxc::schedule
