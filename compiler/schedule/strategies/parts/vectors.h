// vectors.h: vectorizing loops, shared by strategies.
#pragma once

#include "compiler/schedule/tree/edit.h"
#include "targets/target.h"

namespace relaxc::schedule {

/// The number of terms of a vector sum that take as long as storing its lanes one by one.
inline double scattered_terms(const Target& target) {
  return target.scatter_cycles * target.fma_per_cycle;
}

/// The lanes of a vector of the widest element that `s` accesses; 1 if the target has no vectors.
int64_t lanes_of(const Target& target, Stmt s);
/// kMask on targets with wide vectors, where masked loads and stores are cheap; kPeel elsewhere.
Tail tail_of(const Target& target);
/// Fuses adjacent loops of a perfect nest wherever possible; `loops` becomes those that remain.
Legal<> fuse_neighbours(Tree& tree, std::vector<uint32_t>& loops);
/// Removes loops of one iteration, which would separate loops that can be fused: in a 1x1 convolution, the filter's
/// loops are between the rows and columns of the image. If all are such loops, one remains.
Legal<> drop_unit_loops(Tree& tree, std::vector<uint32_t>& loops);
/// Vectorizes whole vectors without a mask, then the remainder.
Legal<> vectorize_whole(Tree& tree, uint32_t loop, int64_t lanes, const Target& target);

}  // namespace relaxc::schedule
