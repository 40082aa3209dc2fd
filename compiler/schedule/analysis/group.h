// group.h: a reduction, what fills in its neutral element before it, and its element-wise consumers behind it.
#pragma once

#include <optional>
#include <vector>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

/// They are what a strategy for reductions takes on at once: a tile begins with the neutral element and ends with its
/// consumers, so that neither makes a pass over memory.
struct ReductionGroup {
  Stmt reduction;               ///< a perfect nest, spatial loops outside of reduction loops
  std::vector<Stmt> consumers;  ///< nests over the same spatial axes, reading the group's results at their own index
  std::vector<BufferRef> non_escaping;  ///< results that nothing outside of the group reads

  std::vector<Stmt> statements() const;  ///< all of these
};

bool is_reduction(const analysis::Nest& nest);

/// The nest writes the value with which the reduction begins, everywhere.
bool initializes(const analysis::Nest& fill, const analysis::Nest& reduction);

/// A consumer of `results` over the axes of the reduction.
bool joins(const analysis::Nest& nest, const analysis::Nest& reduction, const std::vector<BufferRef>& results);

/// These statements of the tree, one behind the other, if they are a reduction and its consumers, and maybe what fills
/// in before it.
std::optional<ReductionGroup> group_of(const Tree& s, const std::vector<Stmt>& all);
/// The same of what is in focus.
std::optional<ReductionGroup> group_in(const Tree& s);

}  // namespace relaxc::schedule
