// conditions.cpp: canonical forms of comparisons, minima and maxima, and selects.
//
// A comparison is a query about one polynomial, left minus right, so that common terms cancel first. A comparison that
// stays open is written with positive terms on both sides, divided by their common factor. A minimum is a list without
// the elements that another one bounds; nested ones are merged, up to kLongest, beyond which they stay nested so that a
// chain of any length costs linear time.
#include <algorithm>

#include "compiler/arith/canonical.h"
#include "compiler/arith/range.h"
#include "compiler/arith/visit.h"
#include "compiler/arith/walks.h"

namespace relaxc::arith {

Expr inverse(Expr condition) {
  bool compares = condition->kind >= ExprKind::kEq && condition->kind <= ExprKind::kLe;
  if (!compares) return Expr();
  const auto& n = static_cast<const Binary&>(*condition.node());
  if (!n.a.dtype().is_index()) return Expr();
  Context& context = condition.context();
  switch (n.kind) {
    case ExprKind::kEq:
      return context.binary(ExprKind::kNe, n.a, n.b);
    case ExprKind::kNe:
      return context.binary(ExprKind::kEq, n.a, n.b);
    case ExprKind::kLt:
      return context.binary(ExprKind::kLe, n.b, n.a);
    default:
      return context.binary(ExprKind::kLt, n.b, n.a);
  }
}

/// The canonical form of what is not an index: comparisons of indices are decided or ordered, the rest stays.
Expr Conditions::condition(Expr e) {
  bool compares = e->kind >= ExprKind::kEq && e->kind <= ExprKind::kLe;
  if (compares) {
    const auto& n = static_cast<const Binary&>(*e.node());
    if (n.a.dtype().is_index())
      if (auto difference = canonical_.sum_of(n.a, n.b, -1)) return comparison(n.kind, *difference);
  }
  if (const auto* n = e.as<Not>()) {
    Expr opposite = inverse(expr(n->a));
    if (opposite) return expr(opposite);
  }
  return canonical_.rebuilt(e);
}

/// The truth of `difference kind 0`; nothing if it is not certain.
std::optional<bool> Conditions::decided(ExprKind kind, const Polynomial& difference) {
  auto at_most = [&](int64_t sign, int64_t limit) {  // sign * difference <= limit
    auto p = sum({}, difference, sign);
    auto beyond = p ? sum(*p, Polynomial::constant(limit), -1) : std::nullopt;
    return beyond && canonical_.proofs().proves_nonpositive(*beyond);
  };
  if (kind == ExprKind::kLt || kind == ExprKind::kLe) {
    int64_t limit = kind == ExprKind::kLt ? -1 : 0;
    if (at_most(1, limit)) return true;
    if (at_most(-1, -1 - limit)) return false;
    return std::nullopt;
  }
  bool equal = kind == ExprKind::kEq;
  if (difference.is_zero()) return equal;
  if (!contains(canonical_.ranges().congruence(difference), 0) || at_most(1, -1) || at_most(-1, -1)) return !equal;
  if (canonical_.assumptions().excludes_zero(primitive(difference))) return !equal;
  if (at_most(1, 0) && at_most(-1, 0)) return equal;
  return std::nullopt;
}

/// The canonical form of `difference kind 0`: a constant if it can be decided, else with the positive terms on the left
/// and the negative ones on the right, divided by their common factor.
Expr Conditions::comparison(ExprKind kind, const Polynomial& whole) {
  if (auto known = decided(kind, whole)) return context().boolean(*known);
  Polynomial difference = canonical_.division().recombine(whole);
  // A term with the coefficient INT64_MIN cannot be negated.
  for (const auto& [_, coefficient] : difference.terms)
    if (coefficient == INT64_MIN) return context().binary(kind, to_expr(difference), context().index(0));
  bool ordered = kind == ExprKind::kLt || kind == ExprKind::kLe;
  int64_t factor = content(difference), constant = difference.constant_term();
  // g * d + k < 0 is d < ceil(-k / g); g * d + k <= 0 is d <= floor(-k / g).
  if (factor > 1) constant = kind == ExprKind::kLt ? floor_divide(constant, factor) : -floor_divide(-constant, factor);
  if (ordered)
    if (Expr of_dividend = without_quotient(kind, difference, factor, constant)) return of_dividend;
  Polynomial left, right;
  for (const auto& [monomial, coefficient] : difference.terms) {
    if (monomial.empty()) continue;
    (coefficient > 0 ? left : right).add(monomial, std::abs(coefficient) / std::max<int64_t>(factor, 1));
  }
  if (!ordered && left.is_zero()) std::swap(left, right), constant = -constant;
  bool to_left = left.is_zero() || (constant > 0 && !right.is_zero());
  (to_left ? left : right).add({}, to_left ? constant : -constant);
  if (!ordered && !right.is_zero() && !left.is_zero() &&
      MonomialOrder()(right.terms.begin()->first, left.terms.begin()->first) && !right.as_constant())
    std::swap(left, right);
  const Expr second = to_expr(right);  // nodes are made in this order whichever compiler builds relaxc
  return context().binary(kind, to_expr(left), second);
}

/// The comparison `q * g + k kind 0` with no term but a quotient q = x // c, as a comparison of x: a guard about a size
/// of a convolution becomes a bound of the symbol in that size. Null for all others.
Expr Conditions::without_quotient(ExprKind kind, const Polynomial& difference, int64_t factor, int64_t constant) {
  const auto& [monomial, coefficient] = *difference.terms.begin();
  bool alone = monomial.size() == 1 && difference.terms.size() <= 2 && std::abs(coefficient) == factor &&
               (difference.terms.size() == 1 || difference.terms.rbegin()->first.empty());
  const auto* quotient = alone ? monomial[0].as<FloorDiv>() : nullptr;
  const int64_t* c = quotient == nullptr ? nullptr : quotient->b.constant();
  if (c == nullptr || *c <= 0) return {};
  // q + k < 0 is q + (k + 1) <= 0. Then q <= -k is x < (1 - k) * c, and q >= k is x >= k * c.
  int64_t k = constant, limit = 0;
  if (kind == ExprKind::kLt && __builtin_add_overflow(k, 1, &k)) return {};
  bool below = coefficient > 0;
  if (below && __builtin_sub_overflow(1, k, &k)) return {};
  if (__builtin_mul_overflow(k, *c, &limit) || limit == INT64_MIN) return {};
  auto p = sum(poly(quotient->a), Polynomial::constant(limit), -1);
  if (p && !below) p = sum({}, *p, -1);
  return p ? comparison(below ? ExprKind::kLt : ExprKind::kLe, *p) : Expr();
}

/// The elements of a minimum (maximum) that minimum() made, or else the value as the only one.
std::vector<Expr> Conditions::members(ExprKind kind, const Polynomial& p) {
  bool alone = p.terms.size() == 1 && p.terms.begin()->second == 1 && p.terms.begin()->first.size() == 1;
  auto found =
      alone && p.terms.begin()->first[0]->kind == kind ? members_.find(p.terms.begin()->first[0]) : members_.end();
  return found == members_.end() ? std::vector<Expr>{to_expr(p)} : found->second;
}

Polynomial Conditions::minimum(ExprKind kind, const Polynomial& a, const Polynomial& b) {
  constexpr size_t kLongest = 64;
  // `x` can be left out if `y` is always at least as small (as large).
  auto beats = [&](Expr y, Expr x) {
    if (x == y) return true;
    auto difference = kind == ExprKind::kMin ? canonical_.sum_of(y, x, -1) : canonical_.sum_of(x, y, -1);
    return difference && canonical_.proofs().proves_nonpositive(*difference);
  };
  auto drop = [&](std::vector<Expr>& from, const std::vector<Expr>& others) {
    std::erase_if(
        from, [&](Expr x) { return std::any_of(others.begin(), others.end(), [&](Expr y) { return beats(y, x); }); });
  };
  std::vector<Expr> all = members(kind, a), more = members(kind, b);
  if (all.size() + more.size() > kLongest) all = {to_expr(a)}, more = {to_expr(b)};
  drop(more, all);
  drop(all, more);
  all.insert(all.end(), more.begin(), more.end());
  if (all.size() == 1) return poly(all[0]);
  // By age, but constants last: whether a constant is older than a symbol depends on the rest of the program, so text
  // that is printed and read again would otherwise come out in another order.
  std::sort(all.begin(), all.end(), [](Expr x, Expr y) {
    return std::pair(x.constant() != nullptr, x->id) < std::pair(y.constant() != nullptr, y->id);
  });
  Expr made = all[0];
  for (size_t i = 1; i < all.size(); ++i) {
    made = canonical_.atom(context().binary(kind, made, all[i])).terms.begin()->first[0];
    members_.try_emplace(made, all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  return Polynomial::atom(made);
}

/// Whether `a` and `b` are equal where `equality`, of a size and a constant, holds. The dims of a broadcast of n and
/// min(n, 512) are select(n == 1, min(n, 512), n), which is n; in the first form, it hides that n rows are n rows.
/// Long arms are not compared, so that nests of selects take linear time.
bool Conditions::agree_where(Expr equality, Expr a, Expr b) {
  constexpr size_t kLongest = 32;  // nodes
  const auto& n = static_cast<const Binary&>(*equality.node());
  if (!n.a.dtype().is_index() || n.a.constant() != nullptr || n.b.constant() == nullptr) return false;
  size_t nodes = 0;
  for (Expr arm : {a, b})
    for_each_reached(arm, [&](Expr node) { return ++nodes > kLongest ? std::vector<Expr>{} : operands(node); });
  if (nodes > kLongest || !canonical_.budget().afford(nodes)) return false;
  Substitution at = {{n.a, n.b}};
  const Polynomial& second = poly(substitute(b, at));  // in this order, as in Canonical::polys
  return poly(substitute(a, at)) == second;
}

Polynomial Conditions::selection(const Select& n) {
  Expr decided = expr(n.condition);
  if (decided.constant() != nullptr) return poly(*decided.constant() != 0 ? n.then_value : n.else_value);
  Polynomial a = poly(n.then_value), b = poly(n.else_value);
  if (a == b) return a;
  bool equal = decided->kind == ExprKind::kEq, unequal = decided->kind == ExprKind::kNe;
  Expr then_value = to_expr(a), else_value = to_expr(b);
  if ((equal || unequal) && agree_where(decided, then_value, else_value)) return equal ? b : a;
  return canonical_.atom(context().select(decided, then_value, else_value));
}

}  // namespace relaxc::arith
