// polynomial.h: the ring of polynomials with int64 coefficients over atoms; internal to arith.
//
// An atom is an expression that is no sum and no product: a variable, a division, a minimum, … Operations that would
// overflow or grow past kMostTerms give nothing, and their caller keeps the expression as an atom instead: so neither
// exact arithmetic nor linear time is ever lost.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "compiler/arith/expr.h"

namespace relaxc::arith {

/// A product of atoms, sorted by creation; a power repeats its atom. Empty: 1.
using Monomial = std::vector<Expr>;

/// Higher degrees first, then by creation of the atoms; the constant comes last.
struct MonomialOrder {
  bool operator()(const Monomial& a, const Monomial& b) const;
};

struct Polynomial {
  static constexpr size_t kMostTerms = 256;

  std::map<Monomial, int64_t, MonomialOrder> terms;  ///< no coefficient is 0

  static Polynomial constant(int64_t value);
  static Polynomial atom(Expr e);

  bool is_zero() const { return terms.empty(); }
  int64_t constant_term() const;
  /// The value if there is no atom in it.
  std::optional<int64_t> as_constant() const;
  /// Adds coefficient * monomial; false (and unchanged) on overflow.
  bool add(const Monomial& monomial, int64_t coefficient);
  friend bool operator==(const Polynomial& a, const Polynomial& b) { return a.terms == b.terms; }
};

/// a + scale * b.
std::optional<Polynomial> sum(const Polynomial& a, const Polynomial& b, int64_t scale = 1);
std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b);
Monomial times(const Monomial& a, const Monomial& b);
/// `a` without the factors of `b`; nothing if `b` does not divide it.
std::optional<Monomial> divide(const Monomial& a, const Monomial& b);
/// The quotient if `b` divides `a` exactly.
std::optional<Polynomial> divide_exactly(const Polynomial& a, const Polynomial& b);
/// The greatest common divisor of all coefficients but that of the constant; 0 if there are none.
int64_t content(const Polynomial& p);
/// `p` over the greatest common divisor of all its coefficients, its first one positive: zero where `p` is.
Polynomial primitive(const Polynomial& p);

}  // namespace relaxc::arith
