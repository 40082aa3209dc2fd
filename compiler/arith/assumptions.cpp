// assumptions.cpp: the facts' assumptions about the variables of a query, as polynomials.
//
// When a variable is met first, the assumptions that are connected with it are read, each as a polynomial that is <= 0
// or != 0. Equalities are solved for one variable each, which provers then replace wherever it occurs.
#include "compiler/arith/assumptions.h"

#include <algorithm>
#include <utility>

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

/// The assumptions that mention `first`, or a variable of another one of them: no others can say anything of it.
/// Variables in `met_` are not looked for again. Where guards about data connect all sizes of a program, those nearest
/// to the variable are taken, the latest first, so that a question costs no more in a long program. One about more
/// variables than a polynomial has terms says hardly anything of any of them.
std::vector<Expr> Assumptions::connected(Expr first) {
  constexpr size_t kMost = 32;
  const std::vector<Expr>& all = facts_.assumptions();
  std::vector<Expr> variables{first};
  std::unordered_set<Expr> seen;
  for (size_t i = 0; i < variables.size() && seen.size() < kMost; ++i)
    for (size_t place : facts_.assumptions_of(variables[i])) {
      if (seen.size() >= kMost) break;
      if (facts_.variables_of(place).size() > Polynomial::kMostTerms) continue;
      if (!seen.insert(all[place]).second) continue;
      for (Var var : facts_.variables_of(place))
        if (met_.insert(var).second) variables.push_back(var);
    }
  std::vector<Expr> in_order;
  if (seen.empty()) return in_order;
  for (Expr e : all)
    if (seen.count(e) != 0) in_order.push_back(e);
  return in_order;
}

/// Reads the assumptions about a variable when it first occurs, so that a question costs only what its own variables
/// cost, not what all variables of a program do.
void Assumptions::meet(Expr var) {
  if (facts_.assumptions().empty() || !met_.insert(var).second) return;
  std::vector<Expr> assumptions = connected(var);
  if (assumptions.empty()) return;
  // This runs inside of another question, whose results and references must stay.
  Canonical::Memory outside = canonical_.set_aside();
  const StepBudget::Allowance allowance = canonical_.budget().allowance();
  canonical_.budget().set_allowance({.left = allowance.left, .asked = false});
  if (equalities_ == Equalities::kSubstitute) solve_equalities(assumptions);
  read(assumptions);
  canonical_.bring_back(std::move(outside));
  canonical_.budget().set_allowance(allowance);
}

Expr Assumptions::solution_of(Expr var) const {
  auto found = solved_.find(var);
  return found == solved_.end() ? Expr() : found->second;
}

bool Assumptions::excludes_zero(const Polynomial& p) const {
  return std::find(nonzero_.begin(), nonzero_.end(), p) != nonzero_.end();
}

std::vector<size_t> Assumptions::places_about(const Polynomial& p) const {
  std::vector<size_t> places;
  for (const auto& [monomial, _] : p.terms)
    for (Expr factor : monomial)
      if (auto found = nonpositive_of_.find(factor); found != nonpositive_of_.end())
        places.insert(places.end(), found->second.begin(), found->second.end());
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

void Assumptions::solve_equalities(const std::vector<Expr>& assumptions) {
  std::vector<Expr> variables;
  for (Expr e : assumptions) {
    const Binary* n = comparison_of_indices(e);
    if (n == nullptr || n->kind != ExprKind::kEq) continue;
    auto zero = canonical_.sum_of(n->a, n->b, -1);
    Expr solved = zero ? solve(*zero) : Expr();
    if (!solved) continue;
    variables.push_back(solved);
    canonical_.set_aside();  // forgets forms that contain the variable
  }
  std::sort(variables.begin(), variables.end(), [](Expr a, Expr b) { return a->id < b->id; });
  for (Expr var : variables) transfer(var);
}

/// Solves `zero` = 0 for the youngest variable that is a term of its own, with coefficient 1 or -1. The rest must not
/// mention it. Null if there is none.
Expr Assumptions::solve(const Polynomial& zero) {
  Expr best;
  int64_t sign = 0;
  for (const auto& [monomial, coefficient] : zero.terms) {
    bool alone = monomial.size() == 1 && monomial[0].as<VarNode>() && (coefficient == 1 || coefficient == -1);
    if (alone && (!best || best->id < monomial[0]->id)) best = monomial[0], sign = coefficient;
  }
  if (!best) return {};
  Polynomial term;
  term.add({best}, sign);
  auto rest = sum(zero, term, -1);
  if (rest) rest = sum({}, *rest, -sign);
  if (!rest) return {};
  Expr value = to_expr(*rest);
  for (Var var : free_vars(value))
    if (var == best) return {};
  solved_[best] = value;
  return best;
}

/// What is known of a solved variable holds for the value that replaces it.
void Assumptions::transfer(Expr var) {
  const Polynomial& value = poly(var);
  Range range = facts_.range_of(var);
  Congruence congruence = facts_.congruence_of(var);
  if (range.has_lower()) assume_nonpositive(sum(Polynomial::constant(range.lower), value, -1));
  if (range.has_upper()) assume_nonpositive(sum(value, Polynomial::constant(range.upper), -1));
  bool alone = value.terms.size() == 1 && value.terms.begin()->second == 1 && value.terms.begin()->first.size() == 1;
  if (!alone) return;
  Expr other = value.terms.begin()->first[0];
  Ranges::Known merged = canonical_.ranges().known(other);
  Range both = intersect(merged.range, range);
  auto classes = intersect(merged.congruence, congruence);
  if (both.lower <= both.upper && classes) canonical_.ranges().set_known(other, {both, *classes});
}

void Assumptions::assume_nonpositive(std::optional<Polynomial> p) {
  if (!p || p->as_constant()) return;
  for (const auto& [monomial, _] : p->terms)
    for (Expr factor : monomial) {
      std::vector<size_t>& places = nonpositive_of_[factor];
      if (places.empty() || places.back() != nonpositive_.size()) places.push_back(nonpositive_.size());
    }
  nonpositive_.push_back(std::move(*p));
}

void Assumptions::read(const std::vector<Expr>& assumptions) {
  size_t first = nonpositive_.size();
  for (Expr e : assumptions) {
    const Binary* n = comparison_of_indices(e);
    auto difference = n != nullptr ? canonical_.sum_of(n->a, n->b, -1) : std::nullopt;
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
    for (size_t i = first; i < nonpositive_.size(); ++i) narrow_variables(nonpositive_[i]);
}

/// Narrows each variable that is alone in a term of p <= 0, by the range of the rest: from 0 <= y and y < m, 1 <= m.
/// The rest is what comes before and after the term, so that long sums take a time that grows with their length.
void Assumptions::narrow_variables(const Polynomial& p) {
  Ranges& ranges = canonical_.ranges();
  std::vector<Range> after(p.terms.size() + 1, Range::exactly(0));
  size_t place = p.terms.size();
  for (auto term = p.terms.end(); term != p.terms.begin(); --place) {
    --term;
    after[place - 1] = add(ranges.range_of_term(term->first, term->second), after[place]);
  }
  Range before = Range::exactly(0);
  for (const auto& [monomial, coefficient] : p.terms) {
    narrow_variable(monomial, coefficient, add(before, after[++place]));
    before = add(before, ranges.range_of_term(monomial, coefficient));
  }
}

/// Narrows the variable that is alone in a term of a sum <= 0, if it is one, by the range of the other terms.
void Assumptions::narrow_variable(const Monomial& monomial, int64_t coefficient, Range others) {
  bool alone = monomial.size() == 1 && monomial[0].as<VarNode>() && (coefficient == 1 || coefficient == -1);
  if (!alone || !others.has_lower() || others.lower == INT64_MAX) return;
  Ranges::Known merged = canonical_.ranges().known(monomial[0]);
  merged.range =
      intersect(merged.range, coefficient > 0 ? Range{INT64_MIN, -others.lower} : Range::at_least(others.lower));
  if (merged.range.lower <= merged.range.upper) canonical_.ranges().set_known(monomial[0], merged);
}

}  // namespace relaxc::arith
