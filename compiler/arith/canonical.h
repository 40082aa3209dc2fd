// canonical.h: the engine behind simplify, bounds and the provers; internal to arith.
//
// The method: an index expression becomes a polynomial over atoms, so that sums cancel by themselves. floormod has no
// atom of its own while computing: x % c is x - c * (x // c), and all identities between the two fall out of the ring;
// recombine() finds the remainders again for printing and for tight bounds. One Canonical serves one question or many
// under the same facts and remembers every node it has seen, so shared subexpressions cost once.
//
// What a question costs is counted in steps, a step being a term that is looked at, so that an answer depends on no
// clock. Each node of an expression and each proof has an allowance, of which all proofs that it starts take their
// steps. What is left open for want of steps stays as it is, or is "not proved", and is forgotten with the question
// unless it is the answer itself: another question may have more steps left.
//
// Rejected: a set of rewrite rules run to a fixpoint (the order of rules decides what is found, and it may not end).
#pragma once

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "compiler/arith/congruence.h"
#include "compiler/arith/facts.h"
#include "compiler/arith/polynomial.h"

namespace relaxc::arith {

/// Whether a variable that an assumed equality determines is replaced by what it equals. Provers do so; a simplified
/// expression keeps its variables, since others might not be in scope where it stands.
enum class Equalities { kKeep, kSubstitute };

/// The comparison that holds where `condition` does not; null if it is no comparison of indices.
Expr inverse(Expr condition);

class Canonical {
 public:
  Canonical(Context& context, const Facts& facts, Equalities equalities);

  /// The canonical form of an expression of any dtype.
  Expr expr(Expr e);
  /// The polynomial of an index expression.
  const Polynomial& poly(Expr e);
  Expr to_expr(const Polynomial& p);
  /// Puts x % c in place of x - c * (x // c), for reading and bounds; everything else here wants it the other way.
  Polynomial recombine(const Polynomial& p);

  /// The range of values, as a question of its own.
  Range bounds(const Polynomial& p);
  Range range(const Polynomial& p, int depth = 3);
  Range range_of_atom(Expr atom) { return known(atom).range; }
  Congruence congruence(const Polynomial& p);
  /// The steps that all questions so far have taken.
  int64_t steps() const { return steps_; }
  /// Whether p <= 0, from ranges and sums of assumptions.
  bool proves_nonpositive(const Polynomial& p);
  /// Whether a + gap <= b.
  bool proves_order(Expr a, Expr b, int64_t gap);

 private:
  struct Known {
    Range range;
    Congruence congruence;
  };

  // canonical.cpp: nodes to polynomials and back.
  void process(Expr root);
  std::vector<Expr> inputs(Expr e) const;
  std::vector<Expr> sums_below(Expr e) const;
  Polynomial add_up(Expr e, const std::vector<Expr>& parts);
  Expr rebuilt(Expr e);
  Polynomial make(Expr e);
  Polynomial opaque(Expr e);
  Polynomial atom(Expr e);
  Polynomial cast_to_index(Expr e);
  Polynomial value_of(Expr var);
  std::optional<Polynomial> truncate(const Binary& n);

  // condition.cpp: comparisons, minima and maxima, selects.
  Expr condition(Expr e);
  Expr comparison(ExprKind kind, const Polynomial& difference);
  Expr without_quotient(ExprKind kind, const Polynomial& difference, int64_t factor, int64_t constant);
  std::optional<bool> decided(ExprKind kind, const Polynomial& difference);
  std::vector<Expr> members(ExprKind kind, const Polynomial& p);
  Polynomial minimum(ExprKind kind, const Polynomial& a, const Polynomial& b);
  Polynomial selection(const Select& n);
  bool agree_where(Expr equality, Expr a, Expr b);

  // division.cpp: rules of floordiv, and remainders found again.
  std::optional<Polynomial> divide(const Polynomial& a, const Polynomial& b);
  std::optional<Polynomial> divide_by_constant(const Polynomial& a, int64_t c);
  std::optional<Polynomial> divide_rest(const Polynomial& rest, int64_t c);
  std::optional<Polynomial> divide_by_symbols(const Polynomial& a, const Polynomial& b);
  std::optional<Polynomial> replace_exact(std::optional<Polynomial> p);
  void recombine_term(Polynomial& p, const Monomial& monomial, const FloorDiv& quotient);

  // ranges.cpp: bounds and residue classes.
  Known known(Expr atom);
  Known learn(Expr atom);
  Range range_of_node(Expr atom);
  Congruence congruence_of_node(Expr atom);
  Range range_by_terms(const Polynomial& p);
  Range range_by_cases(const Polynomial& p, int depth);

  // proofs.cpp: what follows from assumptions.
  struct Search;
  std::vector<Expr> connected(Expr first);
  void meet(Expr var);
  void read_assumptions(const std::vector<Expr>& assumptions);
  void solve_equalities(const std::vector<Expr>& assumptions);
  Expr solve(const Polynomial& zero);
  void transfer(Expr var);
  void narrow_variables(const Polynomial& p);
  void assume_nonpositive(std::optional<Polynomial> p);
  bool nonpositive(const Polynomial& p, Search& search, int depth);
  std::optional<bool> nonpositive_by_cases(const Polynomial& p, Search& search, int depth);
  std::vector<Polynomial> implied(const Polynomial& p);

  /// Gives a question its steps, unless it is part of another one, of whose steps it takes.
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
  /// Takes `cost` from the steps of the question; false if none are left. So even the most contrived expression takes a
  /// time linear in its nodes; only precision suffers.
  bool afford(size_t cost);

  Context& context_;
  const Facts& facts_;
  Equalities equalities_;
  /// What was found out of nodes.
  struct Memory {
    std::unordered_map<Expr, Polynomial> polys;
    std::unordered_map<Expr, Expr> exprs;
    std::unordered_map<Expr, Known> known;
    std::unordered_map<Expr, std::vector<Expr>> members;  ///< of minima and maxima
    std::unordered_map<Expr, int64_t> exact;              ///< x // c whose x leaves this remainder by the facts
    std::map<std::pair<uint32_t, uint32_t>, std::vector<std::pair<Polynomial, bool>>> proved;  ///< by first, last atom
    std::vector<Expr> doubtful;  ///< nodes that were processed without steps
  };
  Memory memory_;
  std::unordered_map<Expr, Expr> solved_;  ///< variables that an equality determines
  std::unordered_set<Expr> met_;
  std::vector<Polynomial> nonpositive_;                           ///< the assumptions as p <= 0 …
  std::unordered_map<Expr, std::vector<size_t>> nonpositive_of_;  ///< places of those that an atom is in
  std::vector<Polynomial> nonzero_;                               ///< … and as p != 0
  int64_t left_ = 0;                                              ///< steps of the question that is being answered
  int64_t steps_ = 0;
  bool asked_ = false;
};

}  // namespace relaxc::arith
