// vectors.h: loops into vector lanes, as several strategies do it.
#pragma once

#include "compiler/schedule/tree/edit.h"
#include "targets/target.h"

namespace relaxc::schedule {

/// Terms of a sum of vectors that take as long as storing its lanes apart.
inline double scattered_terms(const Target& target) {
  return target.scatter_cycles * target.fma_per_cycle;
}

/// Lanes of a vector of the widest element that `s` reads or writes; 1: the target has no vectors.
int64_t lanes_of(const Target& target, Stmt s);
/// Masked loads and stores are cheap on targets with wide vectors; elsewhere the rest is done one by one.
Tail tail_of(const Target& target);
/// Fuses neighbours in a chain of perfectly nested loops wherever possible; `loops` becomes what is left.
Legal<> fuse_neighbours(Tree& tree, std::vector<uint32_t>& loops);
/// Loops of one iteration keep neighbours from being fused: those of a 1x1 filter the rows and columns of an image.
/// They go away; one of `loops` is left where there are no others.
Legal<> drop_unit_loops(Tree& tree, std::vector<uint32_t>& loops);
/// Whole vectors without a mask, then what is left.
Legal<> vectorize_whole(Tree& tree, uint32_t loop, int64_t lanes, const Target& target);

}  // namespace relaxc::schedule
