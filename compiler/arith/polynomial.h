// polynomial.h: polynomials with int64 coefficients over atoms; internal to arith.
//
// An atom is an expression that is neither a sum nor a product: a variable, a division, a minimum, … Operations that
// would overflow or exceed kMostTerms return nullopt, and their caller keeps the expression as an atom instead: so
// arithmetic stays exact, and time linear.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/arith/expr.h"

namespace relaxc::arith {

/// A product of atoms, sorted by creation; a power repeats its atom; empty is 1. Few atoms, the usual case, need no
/// heap memory: provers would spend a third of their time on allocating it.
class Monomial {
 public:
  using value_type = Expr;

  Monomial() = default;
  Monomial(std::initializer_list<Expr> atoms) {
    for (Expr atom : atoms) push_back(atom);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Expr* begin() const { return size_ <= kFew ? few_ : many_.data(); }
  const Expr* end() const { return begin() + size_; }
  Expr operator[](size_t i) const { return begin()[i]; }
  Expr front() const { return begin()[0]; }

  void push_back(Expr atom) {
    if (size_ < kFew) few_[size_] = atom;
    if (size_ == kFew) many_.assign(few_, few_ + kFew);
    if (size_ >= kFew) many_.push_back(atom);
    ++size_;
  }
  friend bool operator==(const Monomial& a, const Monomial& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  static constexpr size_t kFew = 3;

  size_t size_ = 0;
  Expr few_[kFew];
  std::vector<Expr> many_;  ///< all atoms, if they are more than kFew
};

/// Higher degrees first, then by creation of the atoms; the constant is last.
struct MonomialOrder {
  bool operator()(const Monomial& a, const Monomial& b) const;
};

/// The coefficients of monomials as a sorted list, since polynomials are read and copied far more often than changed.
class Terms {
 public:
  using Term = std::pair<Monomial, int64_t>;
  using iterator = std::vector<Term>::iterator;
  using const_iterator = std::vector<Term>::const_iterator;

  size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }
  const_iterator begin() const { return list_.begin(); }
  const_iterator end() const { return list_.end(); }
  auto rbegin() const { return list_.rbegin(); }

  const_iterator find(const Monomial& monomial) const {
    auto at = place(list_, monomial);
    return at != list_.end() && at->first == monomial ? at : list_.end();
  }
  int64_t at(const Monomial& monomial) const { return find(monomial)->second; }
  /// Returns the term of `monomial`; adds one with coefficient 0 if there is none.
  iterator find_or_add(const Monomial& monomial) {
    auto at = place(list_, monomial);
    return at != list_.end() && at->first == monomial ? at : list_.insert(at, Term(monomial, 0));
  }
  void erase(iterator term) { list_.erase(term); }
  /// Adds a term that is greater than all others.
  void append(const Monomial& monomial, int64_t coefficient) { list_.emplace_back(monomial, coefficient); }
  void reserve(size_t count) { list_.reserve(count); }
  friend bool operator==(const Terms&, const Terms&) = default;

 private:
  template <typename List>
  static auto place(List& list, const Monomial& monomial) -> decltype(list.begin()) {
    auto before = [](const Term& term, const Monomial& than) { return MonomialOrder()(term.first, than); };
    return std::lower_bound(list.begin(), list.end(), monomial, before);
  }

  std::vector<Term> list_;
};

struct Polynomial {
  static constexpr size_t kMostTerms = 256;

  Terms terms;  ///< no coefficient is 0

  static Polynomial constant(int64_t value);
  static Polynomial atom(Expr e);

  bool is_zero() const { return terms.empty(); }
  /// Returns how many steps (step_budget.h) a visit takes: one for each term and each of its factors beyond the fourth.
  size_t steps() const;
  int64_t constant_term() const;
  /// Returns the value if the polynomial has no atoms.
  std::optional<int64_t> as_constant() const;
  /// Adds coefficient * monomial; returns false, without a change, on overflow.
  bool add(const Monomial& monomial, int64_t coefficient);
  friend bool operator==(const Polynomial& a, const Polynomial& b) { return a.terms == b.terms; }
};

/// Return a + scale * b, and a * b; nullopt on overflow or too many terms.
std::optional<Polynomial> sum(const Polynomial& a, const Polynomial& b, int64_t scale = 1);
std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b);
/// Returns `p` without the term of `monomial`.
Polynomial without(Polynomial p, const Monomial& monomial);
Monomial times(const Monomial& a, const Monomial& b);
/// Returns `a` without the factors of `b`; nullopt if `b` does not divide it.
std::optional<Monomial> divide(const Monomial& a, const Monomial& b);
/// Returns the quotient if `b` divides `a` exactly.
std::optional<Polynomial> divide_exactly(const Polynomial& a, const Polynomial& b);
/// Returns the greatest common divisor of all coefficients except the constant's; 0 if there are none.
int64_t content(const Polynomial& p);
/// Returns `p` divided by the gcd of all its coefficients, with a positive first one; it is zero where `p` is.
Polynomial primitive(const Polynomial& p);

}  // namespace relaxc::arith
