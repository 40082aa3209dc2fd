// origins.h: the source locations of an op that replaces several.
#pragma once

#include <vector>

#include "compiler/relax/graph.h"

namespace relaxc {

/// Adds the locations of `more` that `all` does not have yet.
void add_origins(std::vector<Location>& all, const std::vector<Location>& more);
/// Records that `made` comes from all of `ops`, so that messages, traces and debug information name them.
void mark_origins(relax::Value& made, const std::vector<const relax::Op*>& ops);

}  // namespace relaxc
