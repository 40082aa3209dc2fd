// share_heads.h: a rule on attention; see share_heads.cpp.
#pragma once

#include "compiler/transform/graph/rewrite.h"

namespace relaxc {

/// Attention of keys and values that are repeated for groups of heads, as attention of groups to heads that they share.
relax::Value* share_heads(const Site& site);

}  // namespace relaxc
