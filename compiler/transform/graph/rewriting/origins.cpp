// origins.cpp: see origins.h.
#include "compiler/transform/graph/rewriting/origins.h"

#include <algorithm>

namespace relaxc {

void add_origins(std::vector<Location>& all, const std::vector<Location>& more) {
  for (Location origin : more)
    if (origin != nullptr && std::find(all.begin(), all.end(), origin) == all.end()) all.push_back(origin);
}

void mark_origins(relax::Value& made, const std::vector<const relax::Op*>& ops) {
  for (const relax::Op* op : ops) add_origins(made.op->origins, {op->location});
}

}  // namespace relaxc
