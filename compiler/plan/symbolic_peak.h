// symbolic_peak.h: sums of sizes that are expressions, and which of two is the larger.
//
// Offsets of a symbolic plan are sums of a few sizes, or the maximum of some such sums. Asking the prover about every
// two sums takes seconds, since each size is a product of divisions of symbols. So sums are kept as counts of sizes,
// and the prover only compares two sizes, once: a sum is at most another if each of its sizes is paired with one in the
// other that is at least as large. Multiples of one product of symbols are added up, so that 64 n + 64 n is no more
// than 128 n.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "compiler/plan/storage.h"

namespace relaxc::plan {

/// How often each kind of size occurs, in order of kinds. A kind is one of the distinct sizes.
using Sum = std::vector<std::pair<uint32_t, int64_t>>;
/// The maximum of these sums; none of them is known to be at most another.
using Tops = std::vector<Sum>;

class SymbolicPeaks {
 public:
  /// `line`: what sizes are rounded up to, in bytes. `samples`: values of the symbols at which sizes are compared
  /// before the prover is asked.
  SymbolicPeaks(Context& context, const std::vector<Piece>& pieces, int64_t line,
                const std::vector<std::shared_ptr<arith::Evaluation>>& samples, Comparisons& known);

  uint32_t kind(size_t piece) const { return kinds_[piece]; }
  Sum plus(Sum sum, uint32_t kind) const;
  /// Adds `sum` to `tops`, unless it is at most one of them, and removes those that are at most `sum`.
  void raise(Tops& tops, const Sum& sum);
  Expr to_expr(const Tops& tops) const;
  /// Returns the value at a sample; INT64_MAX if it overflows.
  int64_t value(const Tops& tops, size_t sample) const;

 private:
  int64_t value(const Sum& sum, size_t sample) const;
  bool at_most(const Sum& a, const Sum& b);
  bool pairs_at_most(const Sum& a, const Sum& b);
  bool units_at_most(const Sum& a, const Sum& b);
  bool kind_at_most(uint32_t a, uint32_t b);
  bool unit_at_most(uint32_t a, uint32_t b);
  bool compare_kinds(uint32_t a, uint32_t b);
  bool compare_units(uint32_t a, uint32_t b);
  Expr aligned(Expr bytes) const;

  Context& context_;
  int64_t line_;
  std::vector<uint32_t> kinds_;
  std::vector<Size> sizes_;                   ///< size of each kind
  std::vector<Expr> bytes_;                   ///< the same, rounded up to lines
  std::vector<std::vector<int64_t>> values_;  ///< value of each kind at each sample
  std::vector<uint32_t> units_;               ///< of each kind: the first kind that is a multiple of the same product
  std::vector<int64_t> multiples_;
  Comparisons& known_;
  std::unordered_map<uint64_t, bool> kinds_at_most_, units_at_most_;  ///< answers, by both indices
};

}  // namespace relaxc::plan
