// symbolic_peak.h: sums of sizes that are expressions, and which of them is the larger.
//
// Offsets of a symbolic plan are sums of a few sizes, or the largest of some such sums. Asking the prover about every
// two of them takes seconds, since each size is a product of divisions of symbols. So sums are kept as counts of sizes,
// and the prover is asked about two sizes alone, once: a sum is at most another if each of its sizes finds one in the
// other that is at least as large. Multiples of one product of symbols count together, so that 64 n + 64 n is no more
// than 128 n.
#pragma once

#include <vector>

#include "compiler/plan/storage.h"

namespace relaxc::plan {

/// How often each kind of size occurs, by kind.
using Sum = std::vector<std::pair<uint32_t, int64_t>>;
/// The largest of these; none of them is known to be at most another.
using Tops = std::vector<Sum>;

class SymbolicPeaks {
 public:
  /// `line`: what sizes are rounded up to. `samples`: values of the symbols at which sizes are tried before anything is
  /// proved.
  SymbolicPeaks(Context& context, const std::vector<Piece>& pieces, int64_t line,
                std::vector<std::function<int64_t(arith::Var)>> samples, Comparisons& known);

  uint32_t kind(size_t piece) const { return kinds_[piece]; }
  Sum plus(Sum sum, uint32_t kind) const;
  /// `tops` with `sum` among them, if it is not at most one of them; without those that it covers.
  void raise(Tops& tops, const Sum& sum);
  Expr to_expr(const Tops& tops) const;
  /// The value at a sample; INT64_MAX if that overflows.
  int64_t value(const Tops& tops, size_t sample) const;

 private:
  int64_t value(const Sum& sum, size_t sample) const;
  bool at_most(const Sum& a, const Sum& b);
  bool pairs_at_most(const Sum& a, const Sum& b);
  bool units_at_most(const Sum& a, const Sum& b);
  bool kind_at_most(uint32_t a, uint32_t b);
  bool unit_at_most(uint32_t a, uint32_t b);
  Expr aligned(Expr bytes) const;

  Context& context_;
  int64_t line_;
  std::vector<uint32_t> kinds_;
  std::vector<Size> sizes_;                   ///< of each kind
  std::vector<Expr> bytes_;                   ///< the same in whole lines
  std::vector<std::vector<int64_t>> values_;  ///< of each kind at each sample
  std::vector<uint32_t> units_;  ///< of each kind, by the first kind that has it: what its size is a multiple of
  std::vector<int64_t> multiples_;
  Comparisons& known_;
};

}  // namespace relaxc::plan
