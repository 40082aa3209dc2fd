// canonical.h: the engine behind simplify, bounds and the provers; internal to arith.
//
// The method: an index expression becomes a polynomial over atoms, so that sums cancel by themselves. floormod has no
// atom of its own during this: x % c is x - c * (x // c), and all identities between the two follow from polynomial
// arithmetic; recombine() finds the remainders again for printing and for tight bounds. A Canonical answers one query
// or many under the same facts and caches every node, so shared subexpressions cost once. It converts nodes to
// polynomials and back; its parts handle conditions, division, ranges, assumptions and proofs.
//
// The cost of a query is counted in steps (a step is a term that is visited), so that answers do not depend on a clock.
// Each node of an expression and each proof has an allowance of steps, which all proofs that it starts share. A node
// that runs out of steps stays as it is, a proof is "not proved"; such results are forgotten after the query unless
// they are the answer itself, since another query may have more steps left.
//
// Rejected: a set of rewrite rules run to a fixpoint (the result depends on their order, and it may not terminate).
#pragma once

#include <unordered_map>

#include "compiler/arith/assumptions.h"
#include "compiler/arith/conditions.h"
#include "compiler/arith/division.h"
#include "compiler/arith/proofs.h"
#include "compiler/arith/ranges.h"
#include "compiler/arith/step_budget.h"

namespace relaxc::arith {

class Canonical {
 public:
  Canonical(Context& context, const Facts& facts, Equalities equalities);
  Canonical(const Canonical&) = delete;
  Canonical& operator=(const Canonical&) = delete;

  /// Returns the canonical form of an expression of any dtype.
  Expr expr(Expr e);
  /// Returns the polynomial of an index expression.
  const Polynomial& poly(Expr e);
  /// The polynomials of two index expressions.
  struct Pair {
    const Polynomial &a, &b;
  };
  /// Makes the form of `b` first: terms stand in the order in which their atoms were made, and C++ leaves open which
  /// argument of a call is evaluated first, so `f(poly(a), poly(b))` would depend on the compiler that builds relaxc.
  Pair polys(Expr a, Expr b);
  Expr to_expr(const Polynomial& p);
  /// Returns a + scale * b; nothing if that overflows.
  std::optional<Polynomial> sum_of(Expr a, Expr b, int64_t scale);
  /// Returns the range of values, as a query of its own.
  Range bounds(const Polynomial& p);

  // ---- for the parts

  Context& context() const { return context_; }
  Conditions& conditions() { return conditions_; }
  Division& division() { return division_; }
  Ranges& ranges() { return ranges_; }
  Assumptions& assumptions() { return assumptions_; }
  Proofs& proofs() { return proofs_; }
  StepBudget& budget() { return budget_; }

  /// Returns the same node with canonical operands.
  Expr rebuilt(Expr e);
  Polynomial atom(Expr e);

  /// Cached results for nodes.
  struct Memory {
    std::unordered_map<Expr, Polynomial> polys;
    std::unordered_map<Expr, Expr> exprs;
    std::vector<Expr> doubtful;  ///< nodes that were processed without enough steps
    Ranges::Memory known;
    Conditions::Memory members;
    Division::Memory exact;
  };
  /// Returns all cached results and clears the cache.
  Memory set_aside();
  /// Adds the results that set_aside() returned to those found since; where a node has two, the earlier one is kept.
  /// Proofs are forgotten.
  void bring_back(Memory memory);

  /// Gives a query its steps, unless it is part of another query, whose steps it shares.
  class Question {
   public:
    Question(Canonical& canonical, int64_t steps);
    ~Question();
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;
    bool is_part() const { return is_part_; }

   private:
    Canonical& canonical_;
    bool is_part_;
  };

 private:
  void process(Expr root);
  std::vector<Expr> inputs(Expr e) const;
  std::vector<Expr> sums_below(Expr e) const;
  Polynomial add_up(Expr e, const std::vector<Expr>& parts);
  Polynomial make(Expr e);
  Polynomial opaque(Expr e);
  Polynomial cast_to_index(Expr e);
  Polynomial value_of(Expr var);
  std::optional<Polynomial> truncate(const Binary& n);
  void forget_doubtful();

  Context& context_;
  const Facts& facts_;
  StepBudget budget_;
  std::unordered_map<Expr, Polynomial> polys_;
  std::unordered_map<Expr, Expr> exprs_;
  std::vector<Expr> doubtful_;  ///< nodes that were processed without enough steps
  Conditions conditions_;
  Division division_;
  Ranges ranges_;
  Assumptions assumptions_;
  Proofs proofs_;
};

inline Expr CanonicalPart::expr(Expr e) {
  return canonical_.expr(e);
}
inline const Polynomial& CanonicalPart::poly(Expr e) {
  return canonical_.poly(e);
}
inline Canonical::Pair Canonical::polys(Expr a, Expr b) {
  const Polynomial& second = poly(b);
  return {poly(a), second};
}
inline std::optional<Polynomial> Canonical::sum_of(Expr a, Expr b, int64_t scale) {
  const Pair both = polys(a, b);
  return sum(both.a, both.b, scale);
}
inline Expr CanonicalPart::to_expr(const Polynomial& p) {
  return canonical_.to_expr(p);
}
inline Context& CanonicalPart::context() const {
  return canonical_.context();
}

}  // namespace relaxc::arith
