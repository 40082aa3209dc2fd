// group.h: a reduction with the nest that initializes it and the element-wise nests that consume it.
#pragma once

#include <optional>
#include <vector>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

/// The nests that a strategy for reductions schedules together: a tile initializes its sums in registers and applies
/// the consumers to them, so that neither the initial values nor the sums pass through memory.
struct ReductionGroup {
  Stmt reduction;               ///< a perfect nest, spatial loops outside of reduction loops
  std::vector<Stmt> consumers;  ///< nests over the same spatial axes, reading the group's results at their own index
  std::vector<BufferRef> non_escaping;  ///< results that nothing outside of the group reads

  std::vector<Stmt> statements() const;  ///< the reduction, then its consumers
};

bool is_reduction(const analysis::Nest& nest);

/// Whether the nest stores the reduction's initial value to every element of its result.
bool initializes(const analysis::Nest& fill, const analysis::Nest& reduction);

/// Whether the nest reads `results` element by element over the spatial axes of the reduction.
bool joins(const analysis::Nest& nest, const analysis::Nest& reduction, const std::vector<BufferRef>& results);

/// The group that these consecutive statements are: optionally an initializing nest, a reduction, its consumers.
/// nullopt if they are not such a group.
std::optional<ReductionGroup> group_of(const Tree& s, const std::vector<Stmt>& all);
/// The same for the statements in focus.
std::optional<ReductionGroup> group_in(const Tree& s);

}  // namespace relaxc::schedule
