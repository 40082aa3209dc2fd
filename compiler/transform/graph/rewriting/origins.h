// origins.h: what an op that stands for several was written as.
#pragma once

#include <vector>

#include "compiler/relax/graph.h"

namespace relaxc {

/// Adds what `all` does not hold yet.
void add_origins(std::vector<Location>& all, const std::vector<Location>& more);
/// `made` comes from all nodes of `ops`: messages, traces and debug information name them.
void mark_origins(relax::Value& made, const std::vector<const relax::Op*>& ops);

}  // namespace relaxc
