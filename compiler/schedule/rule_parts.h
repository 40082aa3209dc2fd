// rule_parts.h: steps that several rules take.
#pragma once

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/rules.h"

namespace relaxc::schedule {

/// Lanes of a vector of the widest element that `s` reads or writes; 1: the target has no vectors.
int64_t lanes_of(const Target& target, Stmt s);
/// Masked loads and stores are cheap on targets with wide vectors; elsewhere the rest is done one by one.
Tail tail_of(const Target& target);
/// The loops begin at 0 and are, one by one, what the block's axes are bound to.
bool is_normal(const analysis::Nest& nest);
/// Fuses neighbours in a chain of perfectly nested loops wherever possible; `loops` becomes what is left.
void fuse_neighbours(Schedule& s, std::vector<uint32_t>& loops);

}  // namespace relaxc::schedule
