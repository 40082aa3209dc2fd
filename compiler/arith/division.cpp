// division.cpp: rules of floordiv on polynomials. All are exact for every sign of the dividend.
//
//   (c*q + r) // c            = q + r // c
//   r // c                    = k             if k*c <= r < (k+1)*c
//   (g*a + s) // (g*c)        = (a + k) // c  if k*g <= s < (k+1)*g
//   (x // a + k) // c         = (x + k*a) // (a*c)
//   (x*n + r) // n            = x + r // n,   and r // n = 0 if 0 <= r < n
//
// Division by zero has no value, so a rule may assume that it does not happen.
#include <numeric>

#include "compiler/arith/canonical.h"
#include "compiler/arith/range.h"
#include "compiler/arith/visit.h"

namespace relaxc::arith {

std::optional<Polynomial> Canonical::divide(const Polynomial& a, const Polynomial& b) {
  std::optional<int64_t> c = b.as_constant();
  if (!c) return divide_by_symbols(a, b);
  if (*c > 0) return divide_by_constant(a, *c);
  if (*c == 0 || *c == INT64_MIN) return std::nullopt;
  auto negated = sum({}, a, -1);
  return negated ? divide_by_constant(*negated, -*c) : std::nullopt;
}

/// Takes out what divides by itself: multiples of c, and terms that the facts make divisible.
std::optional<Polynomial> Canonical::divide_by_constant(const Polynomial& a, int64_t c) {
  if (c == 1) return a;
  Polynomial whole, rest;
  for (const auto& [monomial, coefficient] : a.terms) {
    int64_t quotient = monomial.empty() ? floor_divide(coefficient, c) : coefficient / c;
    int64_t left = coefficient % c + (monomial.empty() && coefficient % c < 0 ? c : 0);
    if (!whole.add(monomial, quotient)) return std::nullopt;
    if (left == 0) continue;
    Polynomial term;
    term.add(monomial, left);
    if (monomial.empty() || divisor(term) % c != 0) {
      if (!rest.add(monomial, left)) return std::nullopt;
      continue;
    }
    int64_t common = std::gcd(left, c);
    Polynomial reduced;
    reduced.add(monomial, left / common);
    Expr exact = context_.binary(ExprKind::kFloorDiv, to_expr(reduced), context_.index(c / common));
    if (exact.as<FloorDiv>() == nullptr) return std::nullopt;
    exact_.insert(exact);
    auto total = sum(whole, atom(exact));
    if (!total) return std::nullopt;
    whole = std::move(*total);
  }
  auto quotient = divide_rest(rest, c);
  return quotient ? sum(whole, *quotient) : std::nullopt;
}

std::optional<Polynomial> Canonical::divide_rest(const Polynomial& rest, int64_t c) {
  Range values = range(rest);
  if (values.has_lower() && values.has_upper() && floor_divide(values.lower, c) == floor_divide(values.upper, c))
    return Polynomial::constant(floor_divide(values.lower, c));
  // Terms that share a factor g with c, and a remainder s that stays within one multiple of g.
  for (const auto& [_, coefficient] : rest.terms) {
    int64_t g = std::gcd(coefficient, c);
    if (g == 1 || _.empty()) continue;
    Polynomial scaled, small;
    for (const auto& [monomial, amount] : rest.terms) {
      bool multiple = !monomial.empty() && amount % g == 0;
      if (!(multiple ? scaled : small).add(monomial, multiple ? amount / g : amount)) return std::nullopt;
    }
    Range s = range(small);
    if (!s.has_lower() || !s.has_upper() || floor_divide(s.lower, g) != floor_divide(s.upper, g)) continue;
    if (!scaled.add({}, floor_divide(s.lower, g))) return std::nullopt;
    return divide_by_constant(scaled, c / g);
  }
  // A quotient divided once more.
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
  Expr made = context_.binary(ExprKind::kFloorDiv, to_expr(rest), context_.index(c));
  return made.constant() != nullptr ? Polynomial::constant(*made.constant()) : atom(made);
}

std::optional<Polynomial> Canonical::divide_by_symbols(const Polynomial& a, const Polynomial& b) {
  if (auto exact = divide_exactly(a, b)) return exact;
  Polynomial whole, rest;
  const auto& [lead, scale] = *b.terms.begin();
  for (const auto& [monomial, coefficient] : a.terms) {
    auto factor = b.terms.size() == 1 ? arith::divide(monomial, lead) : std::nullopt;
    bool divides = factor && scale != -1 && coefficient % scale == 0;
    bool fits = divides ? whole.add(*factor, coefficient / scale) : rest.add(monomial, coefficient);
    if (!fits) return std::nullopt;
  }
  // 0 <= rest < b
  auto beyond = sum(rest, b, -1);
  if (beyond && range(rest).lower >= 0 && beyond->add({}, 1) && proves_nonpositive(*beyond)) return whole;
  Expr made = context_.binary(ExprKind::kFloorDiv, to_expr(rest), to_expr(b));
  return sum(whole, made.constant() != nullptr ? Polynomial::constant(*made.constant()) : atom(made));
}

}  // namespace relaxc::arith
