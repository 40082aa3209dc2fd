// region.h: the part of a buffer that statements access, as a box.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/arith/facts.h"
#include "compiler/schedule/analysis/access.h"

namespace relaxc::schedule {

/// A box of elements, parts of which may be outside of the buffer.
struct Region {
  std::vector<Expr> begin;      ///< the first index along each dim
  std::vector<int64_t> extent;  ///< the number of elements along each dim
};

/// A box that contains all elements of `buffer` that `s` accesses. Its first index may depend on variables of loops
/// around `s`, not on those that `s` binds. nullopt if there is no access, or no box of a known size.
std::optional<Region> region_of(Stmt s, BufferRef buffer);

/// Whether `s` stores every element of the box before it reads any.
bool fills(Stmt s, BufferRef buffer, const Region& region);

/// The condition for the subscripts `at` to be inside of the buffer, without what `facts` prove; null if nothing is
/// left.
Expr inside(BufferRef buffer, const std::vector<Expr>& at, const arith::Facts& facts);

}  // namespace relaxc::schedule
