// polynomial.cpp: sums, products and exact quotients.
#include "compiler/arith/polynomial.h"

#include <algorithm>
#include <numeric>

namespace relaxc::arith {
namespace {

bool by_id(Expr a, Expr b) {
  return a->id < b->id;
}

}  // namespace

bool MonomialOrder::operator()(const Monomial& a, const Monomial& b) const {
  if (a.size() != b.size()) return a.size() > b.size();
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), by_id);
}

Polynomial Polynomial::constant(int64_t value) {
  Polynomial p;
  if (value != 0) p.terms.append({}, value);
  return p;
}

Polynomial Polynomial::atom(Expr e) {
  Polynomial p;
  p.terms.append({e}, 1);
  return p;
}

size_t Polynomial::steps() const {
  constexpr size_t kUsual = 4, kFacts = 4;  // factors, as the elements of an image have; bounds of one that proofs try
  size_t steps = terms.size();
  for (const auto& [monomial, _] : terms) steps += monomial.size() > kUsual ? kFacts * (monomial.size() - kUsual) : 0;
  return steps;
}

int64_t Polynomial::constant_term() const {
  auto found = terms.find({});
  return found == terms.end() ? 0 : found->second;
}

std::optional<int64_t> Polynomial::as_constant() const {
  if (terms.empty()) return 0;
  return terms.size() == 1 && terms.begin()->first.empty() ? std::optional(terms.begin()->second) : std::nullopt;
}

bool Polynomial::add(const Monomial& monomial, int64_t coefficient) {
  if (coefficient == 0) return true;
  auto place = terms.find_or_add(monomial);
  int64_t total = 0;
  bool fits = !__builtin_add_overflow(place->second, coefficient, &total);
  if (fits) place->second = total;
  if (place->second == 0) terms.erase(place);
  return fits;
}

std::optional<Polynomial> sum(const Polynomial& a, const Polynomial& b, int64_t scale) {
  Polynomial out;
  out.terms.reserve(a.terms.size() + b.terms.size());
  auto before = MonomialOrder();
  auto left = a.terms.begin();
  for (const auto& [monomial, coefficient] : b.terms) {
    int64_t scaled = 0, total = 0;
    if (__builtin_mul_overflow(coefficient, scale, &scaled)) return std::nullopt;
    for (; left != a.terms.end() && before(left->first, monomial); ++left) out.terms.append(left->first, left->second);
    bool both = left != a.terms.end() && left->first == monomial;
    if (__builtin_add_overflow(both ? left->second : 0, scaled, &total)) return std::nullopt;
    if (both) ++left;
    if (total != 0) out.terms.append(monomial, total);
  }
  for (; left != a.terms.end(); ++left) out.terms.append(left->first, left->second);
  return out.terms.size() > Polynomial::kMostTerms ? std::nullopt : std::optional(std::move(out));
}

Polynomial without(Polynomial p, const Monomial& monomial) {
  auto term = p.terms.find_or_add(monomial);
  p.terms.erase(term);
  return p;
}

Monomial times(const Monomial& a, const Monomial& b) {
  Monomial out;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out), by_id);
  return out;
}

std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
  constexpr size_t kHighestDegree = 32;
  if (a.terms.size() * b.terms.size() > Polynomial::kMostTerms) return std::nullopt;
  Polynomial out;
  for (const auto& [x, i] : a.terms)
    for (const auto& [y, j] : b.terms) {
      int64_t coefficient = 0;
      if (x.size() + y.size() > kHighestDegree || __builtin_mul_overflow(i, j, &coefficient)) return std::nullopt;
      if (!out.add(times(x, y), coefficient)) return std::nullopt;
    }
  return out;
}

std::optional<Monomial> divide(const Monomial& a, const Monomial& b) {
  if (!std::includes(a.begin(), a.end(), b.begin(), b.end(), by_id)) return std::nullopt;
  Monomial out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out), by_id);
  return out;
}

std::optional<Polynomial> divide_exactly(const Polynomial& a, const Polynomial& b) {
  if (b.is_zero()) return std::nullopt;
  const auto& [lead, lead_coefficient] = *b.terms.begin();
  Polynomial rest = a, quotient;
  for (size_t step = 0; step < Polynomial::kMostTerms && !rest.is_zero(); ++step) {
    const auto& [top, coefficient] = *rest.terms.begin();
    std::optional<Monomial> factor = divide(top, lead);
    bool whole = factor && !(coefficient == INT64_MIN && lead_coefficient == -1) && coefficient % lead_coefficient == 0;
    if (!whole) return std::nullopt;
    Polynomial term;
    term.add(*factor, coefficient / lead_coefficient);
    auto taken = product(term, b);
    auto next = taken ? sum(rest, *taken, -1) : std::nullopt;
    if (!next || !quotient.add(*factor, coefficient / lead_coefficient)) return std::nullopt;
    rest = std::move(*next);
  }
  return rest.is_zero() ? std::optional(quotient) : std::nullopt;
}

int64_t content(const Polynomial& p) {
  int64_t common = 0;
  for (const auto& [monomial, coefficient] : p.terms)
    if (!monomial.empty()) common = coefficient == INT64_MIN ? 1 : std::gcd(common, coefficient);
  return common;
}

Polynomial primitive(const Polynomial& p) {
  int64_t common = 0;
  for (const auto& [_, coefficient] : p.terms) {
    if (coefficient == INT64_MIN) return p;
    common = std::gcd(common, coefficient);
  }
  if (common == 0) return p;
  if (p.terms.begin()->second < 0) common = -common;
  Polynomial out;
  for (const auto& [monomial, coefficient] : p.terms) out.terms.append(monomial, coefficient / common);
  return out;
}

}  // namespace relaxc::arith
