// ranges.h: ranges and residue classes of polynomials and atoms.
#pragma once

#include <unordered_map>

#include "compiler/arith/canonical_part.h"
#include "compiler/arith/congruence.h"

namespace relaxc::arith {

class Ranges : public CanonicalPart {
 public:
  struct Known {
    Range range;
    Congruence congruence;
  };
  using Memory = std::unordered_map<Expr, Known>;  ///< by atom

  Ranges(Canonical& canonical, const Facts& facts) : CanonicalPart(canonical), facts_(facts) {}
  /// \param depth  how many minima, maxima, selects and quotients are split into cases
  Range range(const Polynomial& p, int depth = 3);
  /// Returns the range that follows from the ranges of the atoms alone.
  Range range_by_terms(const Polynomial& p);
  Range range_of_term(const Monomial& monomial, int64_t coefficient);
  Range range_of_atom(Expr atom) { return known(atom).range; }
  Congruence congruence(const Polynomial& p);
  Known known(Expr atom);
  void set_known(Expr atom, const Known& known) { known_[atom] = known; }
  Memory& memory() { return known_; }

 private:
  Known learn(Expr atom);
  Range range_of_node(Expr atom);
  Congruence congruence_of_node(Expr atom);
  Range range_by_cases(const Polynomial& p, int depth);

  const Facts& facts_;
  Memory known_;
};

}  // namespace relaxc::arith
