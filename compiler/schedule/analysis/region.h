// region.h: which part of a buffer statements access.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/arith/facts.h"
#include "compiler/schedule/analysis/access.h"

namespace relaxc::schedule {

/// A box of elements.
struct Region {
  std::vector<Expr> begin;      ///< the first one along each dim; it may be in front of the buffer
  std::vector<int64_t> extent;  ///< how many along each dim; some may be behind the buffer
};

/// A box that holds all elements of `buffer` that `s` accesses. Where it begins may depend on variables of loops around
/// `s`, and on none that is bound inside of it. Nothing: there is no access, or no such box of a size that is known.
std::optional<Region> region_of(Stmt s, BufferRef buffer);

/// Whether `s` stores every element of the box before it reads any.
bool fills(Stmt s, BufferRef buffer, const Region& region);

/// What must hold for there to be an element at `at`, as far as `facts` do not say so; null: there is one.
Expr inside(BufferRef buffer, const std::vector<Expr>& at, const arith::Facts& facts);

}  // namespace relaxc::schedule
