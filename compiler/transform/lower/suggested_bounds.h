// suggested_bounds.h: ranges of open dims that would give an arena an upper bound.
#pragma once

#include <vector>

#include "compiler/interface/object.h"
#include "compiler/relax/module.h"

namespace relaxc::lower {

/// Ranges of dims with which the arena of a function has an upper bound.
struct SuggestedBounds {
  std::string function;
  std::vector<interface::Symbol> symbols;  ///< with suggested ranges, those with the most effect first
  uint64_t arena_max = 0;                  ///< the arena's bound with these ranges, in bytes
};

/// Returns suggestions for all entries of `object` whose arena has no bound, once memory is planned.
std::vector<SuggestedBounds> suggested_bounds(const relax::Module& module, const interface::Object& object);

}  // namespace relaxc::lower
