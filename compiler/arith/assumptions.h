// assumptions.h: what the facts assume of the variables of a question, as polynomials.
#pragma once

#include <deque>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/arith/canonical_part.h"

namespace relaxc::arith {

/// Whether a variable that an assumed equality determines is replaced by what it equals. Provers do so; a simplified
/// expression keeps its variables, since others might not be in scope where it is used.
enum class Equalities { kKeep, kSubstitute };

class Assumptions : public CanonicalPart {
 public:
  Assumptions(Canonical& canonical, const Facts& facts, Equalities equalities)
      : CanonicalPart(canonical), facts_(facts), equalities_(equalities) {}

  /// Reads what is assumed of a variable, if it is met for the first time.
  void meet(Expr var);
  /// What an assumed equality makes of the variable; null: nothing.
  Expr solution_of(Expr var) const;
  /// Whether `p` is assumed not to be 0.
  bool excludes_zero(const Polynomial& p) const;
  /// Places of the assumptions that share an atom with `p`, in order.
  std::vector<size_t> places_about(const Polynomial& p) const;
  /// An assumption as a polynomial that is at most 0. The reference stays valid when others are read.
  const Polynomial& nonpositive(size_t place) const { return nonpositive_[place]; }

 private:
  std::vector<Expr> connected(Expr first);
  void read(const std::vector<Expr>& assumptions);
  void solve_equalities(const std::vector<Expr>& assumptions);
  Expr solve(const Polynomial& zero);
  void transfer(Expr var);
  void narrow_variables(const Polynomial& p);
  void assume_nonpositive(std::optional<Polynomial> p);

  const Facts& facts_;
  const Equalities equalities_;
  std::unordered_map<Expr, Expr> solved_;  ///< variables that an equality determines
  std::unordered_set<Expr> met_;
  std::deque<Polynomial> nonpositive_;                            ///< the assumptions as p <= 0 …
  std::unordered_map<Expr, std::vector<size_t>> nonpositive_of_;  ///< places of those that an atom is in
  std::vector<Polynomial> nonzero_;                               ///< … and as p != 0
};

}  // namespace relaxc::arith
