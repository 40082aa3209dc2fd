// canonical.h: the engine behind simplify, bounds and the provers; internal to arith.
//
// The method: an index expression becomes a polynomial over atoms, so that sums cancel by themselves. floormod has no
// atom of its own while computing: x % c is x - c * (x // c), and all identities between the two fall out of the ring;
// recombine() finds the remainders again for printing and for tight bounds. One Canonical serves one question or many
// under the same facts and remembers every node it has seen, so shared subexpressions cost once. Itself it turns nodes
// into polynomials and back; its parts know conditions, division, ranges, assumptions and proofs.
//
// What a question costs is counted in steps, a step being a term that is looked at, so that an answer depends on no
// clock. Each node of an expression and each proof has an allowance of steps, from which all proofs that it starts take
// theirs. What is left open for want of steps stays as it is, or is "not proved", and is forgotten with the question
// unless it is the answer itself: another question may have more steps left.
//
// Rejected: a set of rewrite rules run to a fixpoint (the order of rules decides what is found, and it may not end).
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

  /// The canonical form of an expression of any dtype.
  Expr expr(Expr e);
  /// The polynomial of an index expression.
  const Polynomial& poly(Expr e);
  Expr to_expr(const Polynomial& p);
  /// The range of values, as a question of its own.
  Range bounds(const Polynomial& p);

  // ---- for the parts

  Context& context() const { return context_; }
  Conditions& conditions() { return conditions_; }
  Division& division() { return division_; }
  Ranges& ranges() { return ranges_; }
  Assumptions& assumptions() { return assumptions_; }
  Proofs& proofs() { return proofs_; }
  StepBudget& budget() { return budget_; }

  /// The same node over canonical operands.
  Expr rebuilt(Expr e);
  Polynomial atom(Expr e);

  /// What was found out of nodes.
  struct Memory {
    std::unordered_map<Expr, Polynomial> polys;
    std::unordered_map<Expr, Expr> exprs;
    std::vector<Expr> doubtful;  ///< nodes that were processed without steps
    Ranges::Memory known;
    Conditions::Memory members;
    Division::Memory exact;
  };
  /// All that was found out of nodes, which is then forgotten here.
  Memory set_aside();
  /// Adds what was set aside to what was found out since then; of two results of one node, that which was set aside
  /// stays. Proofs are forgotten.
  void bring_back(Memory memory);

  /// Gives a question its steps, unless it is part of another one, whose steps it shares.
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
  std::vector<Expr> doubtful_;  ///< nodes that were processed without steps
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
inline Expr CanonicalPart::to_expr(const Polynomial& p) {
  return canonical_.to_expr(p);
}
inline Context& CanonicalPart::context() const {
  return canonical_.context();
}

}  // namespace relaxc::arith
