// index_set.h: sets of subscripts along one dim, as sorted ranges that neither overlap nor touch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/arith/facts.h"

namespace relaxc::proof {

using IndexSet = std::vector<arith::Range>;

/// Returns the set of all integers.
inline IndexSet every_index() {
  return {arith::Range{}};
}
inline bool is_every_index(const IndexSet& set) {
  return set.size() == 1 && set[0] == arith::Range{};
}

/// Returns the union; its hull if it has more than 16 ranges.
IndexSet united(IndexSet a, const IndexSet& b);
IndexSet intersected(const IndexSet& set, arith::Range range);
/// Adds the integers outside of 0 .. `count` - 1.
IndexSet with_outside(IndexSet set, int64_t count);

/// Chooses up to 8 of the indices of a dim: the first, the last, those on both sides of two borders, and more near the
/// ends and in the middle.
///
/// \param borders  indices at which other loops begin to store
IndexSet chosen_indices(int64_t count, std::span<const int64_t> borders);

/// Draws up to 8 of the indices of a dim at random; the same for the same seed.
IndexSet drawn_indices(int64_t count, uint64_t seed);

/// Returns the row-major positions of the elements whose subscripts are all in `dims`, in order.
std::vector<int64_t> positions_of(std::span<const IndexSet> dims, std::span<const int64_t> shape);

}  // namespace relaxc::proof
