// store_sites.h: the stores of a kernel with the loops around them and what is known of their variables.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "compiler/arith/facts.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::proof {

/// A store. In its expressions, axes of blocks and variables of lets are replaced by their values, so that only
/// variables of loops and symbols are left.
struct StoreSite {
  tir::BufferRef buffer = nullptr;
  std::vector<arith::Expr> at;
  std::vector<std::pair<tir::BufferRef, std::vector<arith::Expr>>> loads;  ///< of its value and its subscripts
  std::vector<const tir::For*> loops;                                      ///< those around it, outermost first
  size_t loops_around_buffer = 0;                                          ///< how many of them are around the buffer
  arith::Facts facts;                                                      ///< the sizes, and ranges of the loops
};

struct StoreSites {
  std::vector<StoreSite> stores;
  /// Buffers of which every element may be needed: views and what they view, what conditions and extents load, and
  /// arguments of calls.
  std::set<tir::BufferRef> whole;
  /// Loops whose iterations do more than store: they leave a loop, check a guard, or call something.
  std::set<uint32_t> complete;
};

/// \param facts  the sizes
StoreSites store_sites(const tir::PrimFunc& kernel, const arith::Facts& facts);

}  // namespace relaxc::proof
