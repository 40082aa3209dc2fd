// canonical.cpp: from expressions to polynomials over atoms, and back.
#include "compiler/arith/canonical.h"

#include <algorithm>

#include "compiler/arith/range.h"
#include "compiler/arith/visit.h"

namespace relaxc::arith {

Canonical::Canonical(Context& context, const Facts& facts) : context_(context), facts_(facts) {
  read_assumptions();
}

Expr Canonical::expr(Expr e) {
  if (e.dtype().is_index()) return to_expr(poly(e));
  if (exprs_.count(e) == 0) process(e);
  return exprs_.at(e);
}

const Polynomial& Canonical::poly(Expr e) {
  auto found = polys_.find(e);
  if (found != polys_.end()) return found->second;
  process(e);
  return polys_.at(e);
}

/// Visits what was not seen yet, operands first, without recursion.
void Canonical::process(Expr root) {
  auto known = [&](Expr e) { return e.dtype().is_index() ? polys_.count(e) != 0 : exprs_.count(e) != 0; };
  std::vector<std::pair<Expr, bool>> stack = {{root, false}};
  while (!stack.empty()) {
    auto [e, ready] = stack.back();
    stack.pop_back();
    if (known(e)) continue;
    if (!ready) {
      stack.push_back({e, true});
      for (Expr operand : operands(e))
        if (!known(operand)) stack.push_back({operand, false});
    } else if (e.dtype().is_index()) {
      Polynomial made = make(e);
      polys_.emplace(e, std::move(made));
    } else {
      Expr made = condition(e);
      exprs_[e] = made;
      exprs_.try_emplace(made, made);
    }
  }
}

/// The same node over canonical operands.
Expr Canonical::rebuilt(Expr e) {
  std::vector<Expr> from = operands(e), to = from;
  for (Expr& operand : to) operand = expr(operand);
  return from == to ? e : with_operands(e, to);
}

Polynomial Canonical::atom(Expr e) {
  Polynomial p = Polynomial::atom(e);
  polys_.try_emplace(e, p);
  return p;
}

Polynomial Canonical::opaque(Expr e) {
  Expr same = rebuilt(e);
  if (same.constant() != nullptr) return Polynomial::constant(*same.constant());
  return atom(same);
}

Polynomial Canonical::make(Expr e) {
  using Maybe = std::optional<Polynomial>;
  Maybe made = visit(
      e, [&](const IntImm& n) -> Maybe { return Polynomial::constant(n.value); },
      [&](const VarNode&) -> Maybe {
        Range known = facts_.range_of(e);
        return known.is_exact() ? Polynomial::constant(known.lower) : Polynomial::atom(e);
      },
      [&](const Add& n) { return sum(poly(n.a), poly(n.b)); },
      [&](const Sub& n) { return sum(poly(n.a), poly(n.b), -1); },
      [&](const Mul& n) { return product(poly(n.a), poly(n.b)); },
      [&](const FloorDiv& n) { return divide(poly(n.a), poly(n.b)); },
      [&](const FloorMod& n) -> Maybe {
        Polynomial a = poly(n.a), b = poly(n.b);
        Maybe quotient = divide(a, b);
        if (!quotient || (b.terms.size() > 1 && !divide_exactly(a, b))) return std::nullopt;
        Maybe whole = product(*quotient, b);
        return whole ? sum(a, *whole, -1) : std::nullopt;
      },
      [&](const Binary& n) -> Maybe {
        if (n.kind == ExprKind::kMin || n.kind == ExprKind::kMax) return minimum(n.kind, poly(n.a), poly(n.b));
        // Truncating and flooring agree where nothing is negative.
        bool plain = range(poly(n.a)).lower >= 0 && range(poly(n.b)).lower > 0;
        if (plain && n.kind == ExprKind::kDiv) return poly(floordiv(n.a, n.b));
        if (plain && n.kind == ExprKind::kMod) return poly(floormod(n.a, n.b));
        return std::nullopt;
      },
      [&](const Select& n) -> Maybe {
        Expr decided = expr(n.condition);
        if (decided.constant() != nullptr) return poly(*decided.constant() != 0 ? n.then_value : n.else_value);
        Polynomial a = poly(n.then_value), b = poly(n.else_value);
        return a == b ? a : atom(context_.select(decided, to_expr(a), to_expr(b)));
      },
      [&](const Cast&) -> Maybe { return cast_to_index(e); }, [](const Not&) -> Maybe { return std::nullopt; },
      [](const FloatImm&) -> Maybe { return std::nullopt; }, [](const Load&) -> Maybe { return std::nullopt; },
      [](const Call&) -> Maybe { return std::nullopt; });
  made = replace_exact(std::move(made));
  return made ? *made : opaque(e);
}

/// An index that went through int64, or through a narrower integer that holds all its values, is itself.
Polynomial Canonical::cast_to_index(Expr e) {
  Expr same = rebuilt(e);
  const auto* outer = same.as<Cast>();
  const auto* inner = outer == nullptr ? nullptr : outer->value.as<Cast>();
  if (inner == nullptr || !inner->value.dtype().is_index() || !inner->dtype.is_int()) return opaque(e);
  Range values = range(poly(inner->value));
  bool fits = inner->dtype.bits == 64 || (wrap_to_dtype(values.lower, inner->dtype) == values.lower &&
                                          wrap_to_dtype(values.upper, inner->dtype) == values.upper);
  return fits ? poly(inner->value) : opaque(e);
}

/// Everything that is no index: comparisons of indices are decided or put in canonical form, the rest is kept.
Expr Canonical::condition(Expr e) {
  bool compares = e->kind >= ExprKind::kEq && e->kind <= ExprKind::kLe;
  if (compares) {
    const auto& n = static_cast<const Binary&>(*e.node());
    if (n.a.dtype().is_index())
      if (auto difference = sum(poly(n.a), poly(n.b), -1)) return comparison(n.kind, *difference);
  }
  if (const auto* n = e.as<Not>()) {
    const Expr inner = expr(n->a);
    ExprKind kind = inner->kind;
    if (kind >= ExprKind::kEq && kind <= ExprKind::kLe) {
      const auto& c = static_cast<const Binary&>(*inner.node());
      if (c.a.dtype().is_index()) {
        if (kind == ExprKind::kEq) return context_.binary(ExprKind::kNe, c.a, c.b);
        if (kind == ExprKind::kNe) return context_.binary(ExprKind::kEq, c.a, c.b);
        return expr(context_.binary(kind == ExprKind::kLt ? ExprKind::kLe : ExprKind::kLt, c.b, c.a));
      }
    }
  }
  return rebuilt(e);
}

/// `difference kind 0`: decided if it can be, else with positive terms left and negative ones right, over their
/// common factor.
Expr Canonical::comparison(ExprKind kind, const Polynomial& difference) {
  // Nothing can be negated that has no positive counterpart.
  for (const auto& [_, coefficient] : difference.terms)
    if (coefficient == INT64_MIN) return context_.binary(kind, to_expr(difference), context_.index(0));
  Range values = range(difference);
  bool ordered = kind == ExprKind::kLt || kind == ExprKind::kLe;
  int64_t factor = content(difference), constant = difference.constant_term();
  if (ordered) {
    int64_t limit = kind == ExprKind::kLt ? -1 : 0;
    if (values.upper <= limit || (!nonpositive_.empty() && limit == 0 && proves_nonpositive(difference)))
      return context_.boolean(true);
    if (values.lower > limit) return context_.boolean(false);
  } else {
    bool equal = kind == ExprKind::kEq;
    if (values.is_exact() && values.lower == 0) return context_.boolean(equal);
    if (values.lower > 0 || values.upper < 0 || (factor > 1 && constant % factor != 0)) return context_.boolean(!equal);
  }
  // g * d + k < 0 is d < ceil(-k / g); g * d + k <= 0 is d <= floor(-k / g).
  if (factor > 1) constant = kind == ExprKind::kLt ? floor_divide(constant, factor) : -floor_divide(-constant, factor);
  Polynomial left, right;
  for (const auto& [monomial, coefficient] : difference.terms) {
    if (monomial.empty()) continue;
    (coefficient > 0 ? left : right).add(monomial, std::abs(coefficient) / std::max<int64_t>(factor, 1));
  }
  if (!ordered && left.is_zero()) std::swap(left, right), constant = -constant;
  bool to_left = constant > 0 && left.is_zero() ? true : constant > 0 && !right.is_zero();
  (to_left ? left : right).add({}, to_left ? constant : -constant);
  if (!ordered && !right.is_zero() && !left.is_zero() &&
      MonomialOrder()(right.terms.begin()->first, left.terms.begin()->first) && !right.as_constant())
    std::swap(left, right);
  return context_.binary(kind, to_expr(left), to_expr(right));
}

/// Min or max: nested ones become one list, from which what another one bounds is dropped.
Polynomial Canonical::minimum(ExprKind kind, const Polynomial& a, const Polynomial& b) {
  constexpr size_t kLongest = 16;
  std::vector<Polynomial> values, pending = {b, a};
  while (!pending.empty()) {
    Polynomial p = std::move(pending.back());
    pending.pop_back();
    bool alone = p.terms.size() == 1 && p.terms.begin()->second == 1 && p.terms.begin()->first.size() == 1;
    Expr inner = alone ? p.terms.begin()->first[0] : Expr();
    if (inner && inner->kind == kind && values.size() + pending.size() < kLongest) {
      const auto& n = static_cast<const Binary&>(*inner.node());
      pending.push_back(poly(n.b));
      pending.push_back(poly(n.a));
      continue;
    }
    // `x` need not stay if `y` is always at least as small (as large).
    auto beats = [&](const Polynomial& y, const Polynomial& x) {
      auto difference = kind == ExprKind::kMin ? sum(y, x, -1) : sum(x, y, -1);
      return difference && proves_nonpositive(*difference);
    };
    if (std::any_of(values.begin(), values.end(), [&](const Polynomial& y) { return beats(y, p); })) continue;
    std::erase_if(values, [&](const Polynomial& x) { return beats(p, x); });
    values.push_back(std::move(p));
  }
  if (values.size() == 1) return values[0];
  std::vector<Expr> exprs;
  for (const Polynomial& p : values) exprs.push_back(to_expr(p));
  std::sort(exprs.begin(), exprs.end(), [](Expr x, Expr y) { return x->id < y->id; });
  Expr all = exprs[0];
  for (size_t i = 1; i < exprs.size(); ++i) all = atom(context_.binary(kind, all, exprs[i])).terms.begin()->first[0];
  return Polynomial::atom(all);
}

/// c * (x // c) is x where the facts say that c divides x.
std::optional<Polynomial> Canonical::replace_exact(std::optional<Polynomial> p) {
  if (!p || exact_.empty()) return p;
  for (const auto& [monomial, coefficient] : p->terms)
    for (Expr factor : monomial) {
      if (exact_.count(factor) == 0) continue;
      const auto& n = *factor.as<FloorDiv>();
      int64_t c = *n.b.constant();
      if (coefficient % c != 0) continue;
      Polynomial without, scale;
      without.add(monomial, coefficient);
      scale.add(*arith::divide(monomial, {factor}), coefficient / c);
      auto rest = sum(*p, without, -1);
      auto whole = product(scale, poly(n.a));
      auto all = rest && whole ? sum(*rest, *whole) : std::nullopt;
      return all ? replace_exact(std::move(all)) : p;
    }
  return p;
}

Polynomial Canonical::recombine(const Polynomial& polynomial) {
  Polynomial p = polynomial;
  for (const auto& [monomial, _] : polynomial.terms)
    for (Expr factor : monomial)
      if (const auto* quotient = factor.as<FloorDiv>()) recombine_term(p, monomial, *quotient);
  return p;
}

/// Finds k * m * (x - c * (x // c)), where the monomial is m * c * (x // c), and puts k * m * (x % c) in its place.
void Canonical::recombine_term(Polynomial& p, const Monomial& monomial, const FloorDiv& quotient) {
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

Expr Canonical::to_expr(const Polynomial& polynomial) {
  Polynomial p = recombine(polynomial);
  Expr total;
  auto append = [&](const Monomial& monomial, int64_t coefficient) {
    bool subtract = total && coefficient < 0 && coefficient != INT64_MIN;
    int64_t scale = subtract ? -coefficient : coefficient;
    Expr term;
    for (Expr factor : monomial) term = term ? term * factor : factor;
    term = !term ? context_.index(scale) : scale == -1 ? context_.index(0) - term : term * scale;
    total = !total ? term : subtract ? total - term : total + term;
  };
  // A positive term goes first, so that the text does not open with a minus.
  auto first = std::find_if(p.terms.begin(), p.terms.end(), [](const auto& term) { return term.second > 0; });
  if (first != p.terms.end()) append(first->first, first->second);
  for (auto term = p.terms.begin(); term != p.terms.end(); ++term)
    if (term != first) append(term->first, term->second);
  if (!total) return context_.index(0);
  polys_.try_emplace(total, polynomial);
  return total;
}

}  // namespace relaxc::arith
