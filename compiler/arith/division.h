// division.h: floordiv of polynomials; recovers remainders.
#pragma once

#include <optional>
#include <unordered_map>

#include "compiler/arith/canonical_part.h"

namespace relaxc::arith {

class Division : public CanonicalPart {
 public:
  /// The remainders of quotients x // c whose dividend's remainder is known.
  using Memory = std::unordered_map<Expr, int64_t>;

  explicit Division(Canonical& canonical) : CanonicalPart(canonical) {}
  /// Returns floordiv(a, b); nullopt if it has no form as a polynomial.
  std::optional<Polynomial> divide(const Polynomial& a, const Polynomial& b);
  /// Returns `p` with x - r in place of c * (x // c) if x has a known remainder r.
  std::optional<Polynomial> replace_exact(std::optional<Polynomial> p);
  /// Returns `p` with x % c in place of x - c * (x // c).
  Polynomial recombine(const Polynomial& p);
  Memory& memory() { return exact_; }
  const Memory& memory() const { return exact_; }

 private:
  std::optional<Polynomial> divide_by_constant(const Polynomial& a, int64_t c);
  std::optional<Polynomial> divide_rest(const Polynomial& rest, int64_t c);
  std::optional<Polynomial> divide_by_symbols(const Polynomial& a, const Polynomial& b);
  void recombine_term(Polynomial& p, const Monomial& monomial, const FloorDiv& quotient);

  Memory exact_;
};

}  // namespace relaxc::arith
