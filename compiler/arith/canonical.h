// canonical.h: the engine behind simplify, bounds and the provers; internal to arith.
//
// The method: an index expression becomes a polynomial over atoms, so that sums cancel by themselves. floormod has no
// atom of its own while computing: x % c is x - c * (x // c), and all identities between the two fall out of the ring;
// recombine() finds the remainders again for printing and for tight bounds. One Canonical serves one question or many
// under the same facts and remembers every node it has seen, so shared subexpressions cost once.
//
// Rejected: a set of rewrite rules run to a fixpoint (the order of rules decides what is found, and it may not end).
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "compiler/arith/facts.h"
#include "compiler/arith/polynomial.h"

namespace relaxc::arith {

class Canonical {
 public:
  Canonical(Context& context, const Facts& facts);

  /// The canonical form of an expression of any dtype.
  Expr expr(Expr e);
  /// The polynomial of an index expression.
  const Polynomial& poly(Expr e);
  Expr to_expr(const Polynomial& p);
  /// Puts x % c in place of x - c * (x // c), for reading and bounds; everything else here wants it the other way.
  Polynomial recombine(const Polynomial& p);

  Range range(const Polynomial& p, int depth = 3);
  Range range_of_atom(Expr atom);
  int64_t divisor(const Polynomial& p);
  /// Whether p <= 0, from ranges and sums of assumptions.
  bool proves_nonpositive(const Polynomial& p);

 private:
  // canonical.cpp: nodes to polynomials and back.
  void process(Expr root);
  Expr rebuilt(Expr e);
  Polynomial make(Expr e);
  Polynomial opaque(Expr e);
  Polynomial atom(Expr e);
  Polynomial cast_to_index(Expr e);
  Expr condition(Expr e);
  Expr comparison(ExprKind kind, const Polynomial& difference);
  Polynomial minimum(ExprKind kind, const Polynomial& a, const Polynomial& b);
  std::optional<Polynomial> replace_exact(std::optional<Polynomial> p);
  void recombine_term(Polynomial& p, const Monomial& monomial, const FloorDiv& quotient);

  // division.cpp: rules of floordiv.
  std::optional<Polynomial> divide(const Polynomial& a, const Polynomial& b);
  std::optional<Polynomial> divide_by_constant(const Polynomial& a, int64_t c);
  std::optional<Polynomial> divide_rest(const Polynomial& rest, int64_t c);
  std::optional<Polynomial> divide_by_symbols(const Polynomial& a, const Polynomial& b);

  // ranges.cpp: bounds and proofs.
  Range range_by_terms(const Polynomial& p);
  Range range_by_cases(const Polynomial& p, int depth);
  int64_t divisor_of_atom(Expr atom);
  bool nonpositive(const Polynomial& p, int depth, int& tries);
  void read_assumptions();

  Context& context_;
  const Facts& facts_;
  std::unordered_map<Expr, Polynomial> polys_;
  std::unordered_map<Expr, Expr> exprs_;
  std::unordered_map<Expr, Range> ranges_;
  std::unordered_map<Expr, int64_t> divisors_;
  std::unordered_set<Expr> exact_;       ///< x // c whose x is a multiple of c by the facts
  std::vector<Polynomial> nonpositive_;  ///< the assumptions as p <= 0
};

}  // namespace relaxc::arith
