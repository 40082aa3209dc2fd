// proofs.h: proves inequalities from assumptions and ranges.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/arith/canonical_part.h"

namespace relaxc::arith {

class Proofs : public CanonicalPart {
 public:
  explicit Proofs(Canonical& canonical) : CanonicalPart(canonical) {}
  /// Returns whether p <= 0 follows from ranges and sums of assumptions.
  bool proves_nonpositive(const Polynomial& p);
  /// Returns whether a + gap <= b follows.
  bool proves_order(Expr a, Expr b, int64_t gap);
  void forget() { proved_.clear(); }

 private:
  struct Search;
  bool nonpositive(const Polynomial& p, Search& search, int depth);
  std::optional<bool> nonpositive_by_cases(const Polynomial& p, Search& search, int depth);
  std::vector<Polynomial> implied(const Polynomial& p);

  std::map<std::pair<uint32_t, uint32_t>, std::vector<std::pair<Polynomial, bool>>> proved_;  ///< by first, last atom
};

}  // namespace relaxc::arith
