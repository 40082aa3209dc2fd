// extremes.h: the different operands of maxima and minima.
//
// max(a, a) is a, so how often an operand occurs must not count. The sum of the hashes of all operands counts it, but
// costs one addition for each maximum; what has equal sums has equal operands. So runs use sums first. Only where these
// differ, a second run records here of what each maximum was taken, and the fingerprint of a maximum becomes the sum
// over its different operands. It is computed where something other than a maximum uses the value: a running maximum of
// n elements then takes n steps, not n^2.
//
// Tried and dropped: sets as hash-consed tries, whose unions have fingerprints at once, but which take log n nodes for
// each of the n intermediate maxima that nothing uses.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/proof/kernels/residues.h"

namespace relaxc::proof {

/// A graph of unions, which only grows.
class Extremes {
 public:
  /// Unions and operands that are recorded at most: 256 MB.
  static constexpr size_t kLimit = size_t{1} << 23;

  /// Returns the set of one operand with these hashes.
  uint32_t single(uint64_t x, uint64_t y) { return add({x, y, 0, 0, 0, true}); }
  /// Returns the union of two sets; 0 is the empty one.
  uint32_t join(uint32_t a, uint32_t b);
  /// Returns the sums of the hashes of the different operands.
  std::pair<uint64_t, uint64_t> sums(const Residues& residues, uint32_t set);
  /// Returns whether there were too many unions, so that sets are not complete.
  bool over_limit() const { return over_limit_; }

 private:
  struct Set {
    uint64_t x = 0, y = 0;           ///< the sums, if `summed`
    uint32_t first = 0, second = 0;  ///< the sets of which it is the union; 0 for one operand
    uint32_t visit = 0;              ///< the last visit that came here
    bool summed = false;
  };

  uint32_t add(const Set& set);

  std::vector<Set> sets_{Set{.summed = true}};
  uint32_t visits_ = 0;
  bool over_limit_ = false;
};

}  // namespace relaxc::proof
