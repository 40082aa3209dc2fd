// proofs.cpp: what follows from assumptions.
//
// Every question is whether a polynomial p is <= 0. An assumption is another polynomial q known to be <= 0, so p may
// lose any non-negative multiple of q: if what is left is <= 0, so is p. The search tries the multiples that cancel a
// term of p, a few levels deep. Besides what the facts assume, the atoms of p bring truths of their own: the bounds of
// the factors of a product, and c * (x // c) <= x < c * (x // c) + c. Minima, maxima and selects split into cases. What
// ends each branch is the range of the polynomial.
//
// Equalities are solved for one variable each, which is then replaced wherever a prover meets it.
//
// Rejected: Fourier-Motzkin elimination and simplex (complete for linear facts, but products of symbols are the rule
// here, and a question must cost microseconds).
#include <algorithm>

#include "compiler/arith/canonical.h"
#include "compiler/arith/range.h"
#include "compiler/arith/visit.h"

namespace relaxc::arith {
namespace {

const Binary* comparison_of_indices(Expr e) {
  bool compares = e->kind >= ExprKind::kEq && e->kind <= ExprKind::kLe;
  const auto* n = compares ? static_cast<const Binary*>(e.node()) : nullptr;
  return n != nullptr && n->a.dtype().is_index() ? n : nullptr;
}

}  // namespace

struct Canonical::Search {
  int tries = 300;  ///< multiples of assumptions that may still be subtracted
  int cases = 24;   ///< cases that may still be looked at
};

void Canonical::solve_equalities() {
  bool any = false;
  for (Expr e : facts_.assumptions()) {
    const Binary* n = comparison_of_indices(e);
    if (n == nullptr || n->kind != ExprKind::kEq) continue;
    auto zero = sum(poly(n->a), poly(n->b), -1);
    if (!zero || !solve(*zero)) continue;
    any = true;
    polys_.clear(), exprs_.clear(), known_.clear(), exact_.clear(), members_.clear();
  }
  if (!any) return;
  std::vector<Expr> variables;
  for (const auto& [var, _] : solved_) variables.push_back(var);
  std::sort(variables.begin(), variables.end(), [](Expr a, Expr b) { return a->id < b->id; });
  for (Expr var : variables) transfer(var);
}

/// Makes the youngest variable that stands alone in `zero` an expression of the rest, which must not mention it.
bool Canonical::solve(const Polynomial& zero) {
  Expr best;
  int64_t sign = 0;
  for (const auto& [monomial, coefficient] : zero.terms) {
    bool alone = monomial.size() == 1 && monomial[0].as<VarNode>() && (coefficient == 1 || coefficient == -1);
    if (alone && (!best || best->id < monomial[0]->id)) best = monomial[0], sign = coefficient;
  }
  if (!best) return false;
  Polynomial term;
  term.add({best}, sign);
  auto rest = sum(zero, term, -1);
  if (rest) rest = sum({}, *rest, -sign);
  if (!rest) return false;
  Expr value = to_expr(*rest);
  for (Var var : free_vars(value))
    if (var == best) return false;
  solved_[best] = value;
  return true;
}

/// What is known of a solved variable holds of its value.
void Canonical::transfer(Expr var) {
  const Polynomial& value = poly(var);
  Range range = facts_.range_of(var);
  Congruence congruence = facts_.congruence_of(var);
  if (range.has_lower()) assume_nonpositive(sum(Polynomial::constant(range.lower), value, -1));
  if (range.has_upper()) assume_nonpositive(sum(value, Polynomial::constant(range.upper), -1));
  bool alone = value.terms.size() == 1 && value.terms.begin()->second == 1 && value.terms.begin()->first.size() == 1;
  if (!alone) return;
  Expr other = value.terms.begin()->first[0];
  Known merged = known(other);
  Range both = intersect(merged.range, range);
  auto classes = intersect(merged.congruence, congruence);
  if (both.lower <= both.upper && classes) known_[other] = {both, *classes};
}

void Canonical::assume_nonpositive(std::optional<Polynomial> p) {
  if (p && !p->as_constant()) nonpositive_.push_back(std::move(*p));
}

void Canonical::read_assumptions() {
  for (Expr e : facts_.assumptions()) {
    const Binary* n = comparison_of_indices(e);
    auto difference = n != nullptr ? sum(poly(n->a), poly(n->b), -1) : std::nullopt;
    if (!difference) continue;
    if (n->kind == ExprKind::kNe) {
      nonzero_.push_back(primitive(*difference));
      continue;
    }
    if (n->kind == ExprKind::kEq) assume_nonpositive(sum({}, *difference, -1));
    if (n->kind == ExprKind::kLt && !difference->add({}, 1)) continue;
    assume_nonpositive(std::move(difference));
  }
  constexpr int kRounds = 2;  // chains of inequalities
  for (int round = 0; round < kRounds; ++round)
    for (const Polynomial& p : nonpositive_) narrow_variables(p);
}

/// What p <= 0 says of a variable that stands alone in p, by the range of the rest: from 0 <= y and y < m, 1 <= m.
void Canonical::narrow_variables(const Polynomial& p) {
  for (const auto& [monomial, coefficient] : p.terms) {
    bool alone = monomial.size() == 1 && monomial[0].as<VarNode>() && (coefficient == 1 || coefficient == -1);
    if (!alone) continue;
    Polynomial own;
    own.add(monomial, coefficient);
    auto rest = sum(p, own, -1);
    Range others = rest ? range_by_terms(*rest) : Range();
    if (!others.has_lower() || others.lower == INT64_MAX) continue;
    Known merged = known(monomial[0]);
    merged.range =
        intersect(merged.range, coefficient > 0 ? Range{INT64_MIN, -others.lower} : Range::at_least(others.lower));
    if (merged.range.lower <= merged.range.upper) known_[monomial[0]] = merged;
  }
}

bool Canonical::proves_nonpositive(const Polynomial& p) {
  constexpr int kSteps = 3;  // assumptions in a row; ceil-div of a tiled loop takes them all
  Search search;
  return nonpositive(p, search, kSteps);
}

bool Canonical::proves_order(Expr a, Expr b, int64_t gap) {
  auto difference = sum(poly(a), poly(b), -1);
  return difference && difference->add({}, gap) && proves_nonpositive(*difference);
}

bool Canonical::nonpositive(const Polynomial& p, Search& search, int depth) {
  if (range(p).upper <= 0) return true;
  if (!afford(p.terms.size())) return false;
  if (auto split = nonpositive_by_cases(p, search, depth)) return *split;
  if (depth == 0) return false;
  auto known_nonnegative = [&](const Monomial& m) {
    return std::all_of(m.begin(), m.end(), [&](Expr e) { return range_of_atom(e).lower >= 0; });
  };
  std::vector<Polynomial> own = implied(p);
  auto cancels = [&](const Polynomial& assumed) {
    for (const auto& [monomial, coefficient] : p.terms)
      for (const auto& [part, amount] : assumed.terms) {
        if (part.empty() || coefficient == INT64_MIN || amount == INT64_MIN || coefficient % amount != 0) continue;
        auto factor = coefficient / amount > 0 ? arith::divide(monomial, part) : std::nullopt;
        if (!factor || !known_nonnegative(*factor)) continue;
        if (--search.tries < 0) return false;
        // p <= p - scale * assumed, for scale >= 0.
        Polynomial scale;
        scale.add(*factor, coefficient / amount);
        auto taken = product(scale, assumed);
        auto rest = taken ? sum(p, *taken, -1) : std::nullopt;
        if (rest && nonpositive(*rest, search, depth - 1)) return true;
      }
    return false;
  };
  return std::any_of(nonpositive_.begin(), nonpositive_.end(), cancels) || std::any_of(own.begin(), own.end(), cancels);
}

/// Splits by a minimum, maximum or select that stands alone in its term; nothing if there is none. Those of which both
/// cases must hold come first, since which case of another serves may differ between them.
std::optional<bool> Canonical::nonpositive_by_cases(const Polynomial& p, Search& search, int depth) {
  const Monomial* chosen = nullptr;
  bool both = false;
  for (const auto& [monomial, coefficient] : p.terms) {
    if (monomial.size() != 1 || coefficient == INT64_MIN || both) continue;
    ExprKind kind = monomial[0]->kind;
    bool extreme = kind == ExprKind::kMin || kind == ExprKind::kMax;
    both = kind == ExprKind::kSelect || (extreme && (kind == ExprKind::kMax) == (coefficient > 0));
    if (both || (extreme && chosen == nullptr)) chosen = &monomial;
  }
  if (chosen == nullptr) return std::nullopt;
  if (--search.cases < 0) return false;
  Expr e = chosen->front();
  int64_t coefficient = p.terms.at(*chosen);
  auto holds = [&](Expr value) {
    Polynomial old;
    old.add(*chosen, coefficient);
    auto rest = sum(p, old, -1);
    auto made = rest ? sum(*rest, poly(value), coefficient) : std::nullopt;
    return made && nonpositive(*made, search, depth);
  };
  const auto* choice = e.as<Select>();
  if (choice != nullptr) return holds(choice->then_value) && holds(choice->else_value);
  const auto& n = static_cast<const Binary&>(*e.node());
  return both ? holds(n.b) && holds(n.a) : holds(n.b) || holds(n.a);
}

/// Polynomials <= 0 that follow from the atoms of `p` alone.
std::vector<Polynomial> Canonical::implied(const Polynomial& p) {
  std::vector<Polynomial> found;
  auto add_fact = [&](std::optional<Polynomial> fact) {
    if (fact) found.push_back(std::move(*fact));
  };
  std::vector<Expr> seen;
  for (const auto& [monomial, _] : p.terms)
    for (Expr e : monomial) {
      if (std::find(seen.begin(), seen.end(), e) != seen.end()) continue;
      seen.push_back(e);
      Range values = range_of_atom(e);
      Polynomial own = Polynomial::atom(e);
      if (values.has_lower() && monomial.size() > 1) add_fact(sum(Polynomial::constant(values.lower), own, -1));
      if (values.has_upper() && monomial.size() > 1) add_fact(sum(own, Polynomial::constant(values.upper), -1));
      const auto* n = e.as<FloorDiv>();
      if (n == nullptr || range(poly(n->b), 1).lower <= 0) continue;
      auto whole = product(own, poly(n->b));
      auto above = whole ? sum(*whole, poly(n->a), -1) : std::nullopt;
      if (!above) continue;
      add_fact(above);
      auto below = sum({}, *above, -1);
      if (below) below = sum(*below, poly(n->b), -1);
      if (below && below->add({}, 1)) add_fact(std::move(below));
    }
  return found;
}

}  // namespace relaxc::arith
