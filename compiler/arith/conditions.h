// conditions.h: canonical forms of comparisons, minima and maxima, and selects.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/arith/canonical_part.h"

namespace relaxc::arith {

/// Returns the comparison that is true where `condition` is false; null if that is not a comparison of indices.
Expr inverse(Expr condition);

class Conditions : public CanonicalPart {
 public:
  using Memory = std::unordered_map<Expr, std::vector<Expr>>;  ///< operands of minima and maxima

  explicit Conditions(Canonical& canonical) : CanonicalPart(canonical) {}
  /// Returns the canonical form of an expression that is not an index.
  Expr condition(Expr e);
  /// \param kind  kMin or kMax
  Polynomial minimum(ExprKind kind, const Polynomial& a, const Polynomial& b);
  Polynomial selection(const Select& n);
  Memory& memory() { return members_; }

 private:
  Expr comparison(ExprKind kind, const Polynomial& difference);
  Expr without_quotient(ExprKind kind, const Polynomial& difference, int64_t factor, int64_t constant);
  std::optional<bool> decided(ExprKind kind, const Polynomial& difference);
  std::vector<Expr> members(ExprKind kind, const Polynomial& p);
  bool agree_where(Expr equality, Expr a, Expr b);

  Memory members_;
};

}  // namespace relaxc::arith
