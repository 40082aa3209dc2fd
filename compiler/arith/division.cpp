// division.cpp: rules of floordiv on polynomials. All are exact for every sign of the dividend.
//
//   (c*q + r) // c            = q + r // c
//   r // c                    = k             if k*c <= r < (k+1)*c
//   (g*a + s) // (g*c)        = (a + k) // c  if k*g <= s < (k+1)*g
//   (x // a + k) // c         = (x + k*a) // (a*c)
//   (x*n + r) // n            = x + r // n,   and r // n = 0 if 0 <= r < n
//
// Division by zero has no value, so rules assume that it does not happen. If facts imply that x leaves the remainder r
// modulo c, x // c is exact: c * (x // c) becomes x - r.
//
// Remainders are x - c * (x // c) during computation; recombine finds them again at the end.
#include <numeric>

#include "compiler/arith/canonical.h"
#include "compiler/arith/range.h"
#include "compiler/arith/visit.h"

namespace relaxc::arith {

std::optional<Polynomial> Division::divide(const Polynomial& a, const Polynomial& b) {
  std::optional<int64_t> c = b.as_constant();
  if (!c) return divide_by_symbols(a, b);
  if (*c > 0) return divide_by_constant(a, *c);
  if (*c == 0 || *c == INT64_MIN) return std::nullopt;
  auto negated = sum({}, a, -1);
  return negated ? divide_by_constant(*negated, -*c) : std::nullopt;
}

/// Takes exact quotients out of the division: of multiples of c, and of terms whose remainder the facts determine.
std::optional<Polynomial> Division::divide_by_constant(const Polynomial& a, int64_t c) {
  if (c == 1) return a;
  Polynomial whole, rest;
  int64_t constant = a.constant_term();
  for (const auto& [monomial, coefficient] : a.terms) {
    if (monomial.empty()) continue;
    int64_t left = coefficient % c;
    if (!whole.add(monomial, coefficient / c)) return std::nullopt;
    if (left == 0) continue;
    int64_t common = std::gcd(left, c);
    Polynomial reduced;
    reduced.add(monomial, left / common);
    Congruence found = canonical_.ranges().congruence(reduced);
    if (found.modulus % (c / common) != 0) {
      if (!rest.add(monomial, left)) return std::nullopt;
      continue;
    }
    // common * reduced = c * (reduced // (c / common)) + common * remainder
    int64_t remainder = floor_remainder(found.remainder, c / common);
    Expr exact = context().binary(ExprKind::kFloorDiv, to_expr(reduced), context().index(c / common));
    if (exact.as<FloorDiv>() == nullptr || __builtin_add_overflow(constant, common * remainder, &constant))
      return std::nullopt;
    exact_[exact] = remainder;
    auto total = sum(whole, canonical_.atom(exact));
    if (!total) return std::nullopt;
    whole = std::move(*total);
  }
  if (!whole.add({}, floor_divide(constant, c)) || !rest.add({}, floor_remainder(constant, c))) return std::nullopt;
  auto quotient = divide_rest(rest, c);
  return quotient ? sum(whole, *quotient) : std::nullopt;
}

std::optional<Polynomial> Division::divide_rest(const Polynomial& rest, int64_t c) {
  Range values = canonical_.ranges().range(rest);
  if (values.has_lower() && values.has_upper() && floor_divide(values.lower, c) == floor_divide(values.upper, c))
    return Polynomial::constant(floor_divide(values.lower, c));
  // Terms that share a factor g with c are divided by it if the rest stays within one multiple of g.
  for (const auto& [_, coefficient] : rest.terms) {
    int64_t g = std::gcd(coefficient, c);
    if (g == 1 || _.empty()) continue;
    Polynomial scaled, small;
    for (const auto& [monomial, amount] : rest.terms) {
      bool multiple = !monomial.empty() && amount % g == 0;
      if (!(multiple ? scaled : small).add(monomial, multiple ? amount / g : amount)) return std::nullopt;
    }
    Range s = canonical_.ranges().range(small);
    if (!s.has_lower() || !s.has_upper() || floor_divide(s.lower, g) != floor_divide(s.upper, g)) continue;
    if (!scaled.add({}, floor_divide(s.lower, g))) return std::nullopt;
    return divide_by_constant(scaled, c / g);
  }
  // A quotient plus a constant is divided once more: (x // a + s) // c = (x + a * s) // (a * c).
  int64_t shift = rest.constant_term();
  if (rest.terms.size() == (shift != 0 ? 2u : 1u) && rest.terms.begin()->second == 1 &&
      rest.terms.begin()->first.size() == 1) {
    const auto* inner = rest.terms.begin()->first[0].as<FloorDiv>();
    const int64_t* a = inner == nullptr ? nullptr : inner->b.constant();
    int64_t both = 0, moved = 0;
    if (a != nullptr && *a > 0 && !__builtin_mul_overflow(*a, c, &both) && !__builtin_mul_overflow(*a, shift, &moved)) {
      auto dividend = sum(poly(inner->a), Polynomial::constant(moved));
      return dividend ? divide_by_constant(*dividend, both) : std::nullopt;
    }
  }
  Expr made = context().binary(ExprKind::kFloorDiv, to_expr(rest), context().index(c));
  return made.constant() != nullptr ? Polynomial::constant(*made.constant()) : canonical_.atom(made);
}

std::optional<Polynomial> Division::divide_by_symbols(const Polynomial& a, const Polynomial& b) {
  if (auto exact = divide_exactly(a, b)) return exact;
  Polynomial whole, rest;
  const auto& [lead, scale] = *b.terms.begin();
  for (const auto& [monomial, coefficient] : a.terms) {
    auto factor = b.terms.size() == 1 ? arith::divide(monomial, lead) : std::nullopt;
    bool divides = factor && scale != -1 && coefficient % scale == 0;
    bool fits = divides ? whole.add(*factor, coefficient / scale) : rest.add(monomial, coefficient);
    if (!fits) return std::nullopt;
  }
  // If 0 <= rest < b, the rest adds nothing.
  auto beyond = sum(rest, b, -1);
  if (beyond && canonical_.ranges().range(rest).lower >= 0 && beyond->add({}, 1) &&
      canonical_.proofs().proves_nonpositive(*beyond))
    return whole;
  const Expr divisor = to_expr(b);  // nodes are made in this order whichever compiler builds relaxc
  Expr made = context().binary(ExprKind::kFloorDiv, to_expr(rest), divisor);
  return sum(whole, made.constant() != nullptr ? Polynomial::constant(*made.constant()) : canonical_.atom(made));
}

/// Replaces c * (x // c) by x - r where the facts say that x has the remainder r.
std::optional<Polynomial> Division::replace_exact(std::optional<Polynomial> p) {
  if (!p || exact_.empty()) return p;
  for (const auto& [monomial, coefficient] : p->terms)
    for (Expr factor : monomial) {
      auto exact = exact_.find(factor);
      if (exact == exact_.end()) continue;
      const auto& n = *factor.as<FloorDiv>();
      int64_t c = *n.b.constant();
      if (coefficient / c == 0) continue;
      Polynomial without, scale;
      without.add(monomial, coefficient / c * c);
      scale.add(*arith::divide(monomial, {factor}), coefficient / c);
      auto rest = sum(*p, without, -1);
      auto dividend = sum(poly(n.a), Polynomial::constant(exact->second), -1);
      auto whole = dividend ? product(scale, *dividend) : std::nullopt;
      auto all = rest && whole ? sum(*rest, *whole) : std::nullopt;
      return all ? replace_exact(std::move(all)) : p;
    }
  return p;
}

Polynomial Division::recombine(const Polynomial& polynomial) {
  Polynomial p = polynomial;
  constexpr size_t kLongest = 64;  // terms; the search is quadratic in them
  if (p.terms.size() > kLongest) return p;
  for (const auto& [monomial, _] : polynomial.terms)
    for (Expr factor : monomial)
      if (const auto* quotient = factor.as<FloorDiv>()) recombine_term(p, monomial, *quotient);
  return p;
}

/// Finds k * m * (x - c * (x // c)), where the monomial is m * c * (x // c), and replaces it by k * m * (x % c).
void Division::recombine_term(Polynomial& p, const Monomial& monomial, const FloorDiv& quotient) {
  auto found = p.terms.find(monomial);
  const Polynomial& divisor = poly(quotient.b);
  if (found == p.terms.end() || found->second == INT64_MIN || divisor.terms.size() != 1) return;
  int64_t coefficient = found->second, scale_of_divisor = divisor.terms.begin()->second;
  auto others = arith::divide(*arith::divide(monomial, {Expr(&quotient)}), divisor.terms.begin()->first);
  const Polynomial& x = poly(quotient.a);
  if (!others || coefficient % scale_of_divisor != 0 || x.as_constant()) return;
  int64_t k = -(coefficient / scale_of_divisor);
  for (const auto& [part, amount] : x.terms) {
    if (part.empty()) continue;
    int64_t wanted = 0;
    auto there = p.terms.find(times(part, *others));
    bool enough = there != p.terms.end() && !__builtin_mul_overflow(k, amount, &wanted) && wanted != INT64_MIN &&
                  there->second != INT64_MIN && (wanted > 0) == (there->second > 0) &&
                  std::abs(there->second) >= std::abs(wanted);
    if (!enough) return;
  }
  Polynomial scale, old, remainder;
  scale.add(*others, k);
  old.add(monomial, coefficient);
  remainder.add(times(*others, {floormod(quotient.a, quotient.b)}), k);
  auto taken = product(scale, x);
  auto rest = taken ? sum(p, *taken, -1) : std::nullopt;
  if (rest) rest = sum(*rest, old, -1);
  if (rest) rest = sum(*rest, remainder);
  if (rest) p = std::move(*rest);
}

}  // namespace relaxc::arith
