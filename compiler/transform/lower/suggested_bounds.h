// suggested_bounds.h: the dims whose bounds would make more of a function known when compiling.
#pragma once

#include <vector>

#include "compiler/interface/object.h"
#include "compiler/relax/module.h"

namespace relaxc::lower {

/// Ranges of dims with which the arena of a function has a bound.
struct SuggestedBounds {
  std::string function;
  std::vector<interface::Symbol> symbols;  ///< with a range that would do; those that move the arena most first
  uint64_t arena_max = 0;                  ///< by those, in bytes
};

/// Of all functions of `object` whose arena has none. To be asked when memory is planned.
std::vector<SuggestedBounds> suggested_bounds(const relax::Module& module, const interface::Object& object);

}  // namespace relaxc::lower
