// assumptions.h: the facts' assumptions about the variables of a query, as polynomials.
#pragma once

#include <deque>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/arith/canonical_part.h"

namespace relaxc::arith {

/// Whether a variable that an assumed equality determines is replaced by what it equals. Provers do so; a simplified
/// expression keeps its variables, since the replacement may not be in scope where it is used.
enum class Equalities { kKeep, kSubstitute };

class Assumptions : public CanonicalPart {
 public:
  Assumptions(Canonical& canonical, const Facts& facts, Equalities equalities)
      : CanonicalPart(canonical), facts_(facts), equalities_(equalities) {}

  /// Reads the assumptions about a variable when it is met first.
  void meet(Expr var);
  /// Returns what an assumed equality replaces the variable by; null if there is none.
  Expr solution_of(Expr var) const;
  /// Returns whether an assumption says that `p` is not 0.
  bool excludes_zero(const Polynomial& p) const;
  /// Returns the indices, in order, of the assumptions that share an atom with `p`.
  std::vector<size_t> places_about(const Polynomial& p) const;
  /// Returns an assumption as a polynomial that is <= 0. The reference stays valid when others are read.
  const Polynomial& nonpositive(size_t place) const { return nonpositive_[place]; }

 private:
  std::vector<Expr> connected(Expr first);
  void read(const std::vector<Expr>& assumptions);
  void solve_equalities(const std::vector<Expr>& assumptions);
  Expr solve(const Polynomial& zero);
  void transfer(Expr var);
  void narrow_variables(const Polynomial& p);
  void narrow_variable(const Monomial& monomial, int64_t coefficient, Range others);
  void assume_nonpositive(std::optional<Polynomial> p);

  const Facts& facts_;
  const Equalities equalities_;
  std::unordered_map<Expr, Expr> solved_;  ///< variables that an equality determines
  std::unordered_set<Expr> met_;
  std::deque<Polynomial> nonpositive_;                            ///< the assumptions of the form p <= 0
  std::unordered_map<Expr, std::vector<size_t>> nonpositive_of_;  ///< indices of those that an atom occurs in
  std::vector<Polynomial> nonzero_;                               ///< the assumptions of the form p != 0
};

}  // namespace relaxc::arith
