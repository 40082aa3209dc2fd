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
#include <unordered_set>
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

/// A minimum, maximum or select that stands alone in its term: null if there is none. Those of which `both` cases must
/// hold come first, since which case of another serves may differ between them.
struct Choice {
  const Monomial* monomial = nullptr;
  bool both = false;

  explicit Choice(const Polynomial& p) {
    for (const auto& [candidate, coefficient] : p.terms) {
      if (candidate.size() != 1 || coefficient == INT64_MIN || both) continue;
      ExprKind kind = candidate[0]->kind;
      bool extreme = kind == ExprKind::kMin || kind == ExprKind::kMax;
      both = kind == ExprKind::kSelect || (extreme && (kind == ExprKind::kMax) == (coefficient > 0));
      if (both || (extreme && monomial == nullptr)) monomial = &candidate;
    }
  }
};

}  // namespace

struct Canonical::Search {
  int tries = 300;  ///< multiples of assumptions that may still be subtracted
  int cases = 24;   ///< cases that may still be looked at
};

/// The assumptions that speak of a variable, of a variable that these speak of, and so on: no others can say anything
/// of it. Variables that met here are not looked for again. Where guards about data join all sizes of a program, those
/// next to the variable are taken, the latest first, so that a question costs no more in a long program.
std::vector<Expr> Canonical::connected(Expr first) {
  constexpr size_t kMost = 32;
  const std::vector<Expr>& all = facts_.assumptions();
  std::vector<Expr> variables{first};
  std::unordered_set<Expr> seen;
  for (size_t i = 0; i < variables.size() && seen.size() < kMost; ++i)
    for (size_t place : facts_.assumptions_of(variables[i])) {
      if (seen.size() >= kMost) break;
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

/// Reads what is assumed of a variable when it is first met. So a question costs what its own variables cost, not what
/// all of a program's do.
void Canonical::meet(Expr var) {
  if (facts_.assumptions().empty() || !met_.insert(var).second) return;
  std::vector<Expr> assumptions = connected(var);
  if (assumptions.empty()) return;
  // This is in the middle of a question, whose results and references stay.
  Memory outside;
  std::swap(outside, memory_);
  bool asked = std::exchange(asked_, false);
  int64_t left = left_;
  if (equalities_ == Equalities::kSubstitute) solve_equalities(assumptions);
  read_assumptions(assumptions);
  outside.polys.merge(memory_.polys);
  outside.exprs.merge(memory_.exprs);
  outside.known.merge(memory_.known);
  outside.members.merge(memory_.members);
  outside.exact.merge(memory_.exact);
  std::swap(outside, memory_);
  memory_.proved.clear();
  asked_ = asked, left_ = left;
}

void Canonical::solve_equalities(const std::vector<Expr>& assumptions) {
  std::vector<Expr> variables;
  for (Expr e : assumptions) {
    const Binary* n = comparison_of_indices(e);
    if (n == nullptr || n->kind != ExprKind::kEq) continue;
    auto zero = sum(poly(n->a), poly(n->b), -1);
    Expr solved = zero ? solve(*zero) : Expr();
    if (!solved) continue;
    variables.push_back(solved);
    memory_ = {};
  }
  std::sort(variables.begin(), variables.end(), [](Expr a, Expr b) { return a->id < b->id; });
  for (Expr var : variables) transfer(var);
}

/// Makes the youngest variable that stands alone in `zero` an expression of the rest, which must not mention it; null
/// if there is none.
Expr Canonical::solve(const Polynomial& zero) {
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
  if (both.lower <= both.upper && classes) memory_.known[other] = {both, *classes};
}

void Canonical::assume_nonpositive(std::optional<Polynomial> p) {
  if (!p || p->as_constant()) return;
  for (const auto& [monomial, _] : p->terms)
    for (Expr factor : monomial) {
      std::vector<size_t>& places = nonpositive_of_[factor];
      if (places.empty() || places.back() != nonpositive_.size()) places.push_back(nonpositive_.size());
    }
  nonpositive_.push_back(std::move(*p));
}

void Canonical::read_assumptions(const std::vector<Expr>& assumptions) {
  size_t first = nonpositive_.size();
  for (Expr e : assumptions) {
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
    for (size_t i = first; i < nonpositive_.size(); ++i) narrow_variables(nonpositive_[i]);
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
    if (merged.range.lower <= merged.range.upper) memory_.known[monomial[0]] = merged;
  }
}

bool Canonical::proves_nonpositive(const Polynomial& p) {
  constexpr int kInARow = 3;        // assumptions; ceil-div of a tiled loop takes them all
  constexpr int64_t kSteps = 2048;  // of this proof and of all proofs that it starts
  Question question(*this, kSteps);
  auto first = [&](auto term) { return term->first.empty() ? ~uint32_t{0} : term->first[0]->id; };
  if (std::optional<int64_t> value = p.as_constant()) return *value <= 0;
  auto& same = memory_.proved[{first(p.terms.begin()), first(std::prev(p.terms.end()))}];
  for (const auto& [known, holds] : same)
    if (known == p) return holds;
  Search search;
  bool holds = nonpositive(p, search, kInARow);
  if (holds || left_ >= 0 || !question.is_part()) same.emplace_back(p, holds);
  return holds;
}

bool Canonical::proves_order(Expr a, Expr b, int64_t gap) {
  auto difference = sum(poly(a), poly(b), -1);
  return difference && difference->add({}, gap) && proves_nonpositive(*difference);
}

bool Canonical::nonpositive(const Polynomial& p, Search& search, int depth) {
  if (!afford(1 + p.terms.size())) return range_by_terms(p).upper <= 0;
  // Where cases are looked at below, range need not do the same before.
  bool has_cases = Choice(p).monomial != nullptr && search.cases > 0;
  if ((has_cases ? range(p, 0) : range(p)).upper <= 0) return true;
  if (auto split = nonpositive_by_cases(p, search, depth)) return *split;
  if (depth == 0) return false;
  auto known_nonnegative = [&](const Monomial& m) {
    return std::all_of(m.begin(), m.end(), [&](Expr e) { return range_of_atom(e).lower >= 0; });
  };
  std::vector<Polynomial> own = implied(p);
  auto cancels = [&](const Polynomial& assumed) {
    if (!afford(1)) return false;
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
  std::vector<size_t> places;  // of assumptions that share an atom with p
  for (const auto& [monomial, _] : p.terms)
    for (Expr factor : monomial)
      if (auto found = nonpositive_of_.find(factor); found != nonpositive_of_.end())
        places.insert(places.end(), found->second.begin(), found->second.end());
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return std::any_of(places.begin(), places.end(), [&](size_t i) { return cancels(nonpositive_[i]); }) ||
         std::any_of(own.begin(), own.end(), cancels);
}

/// Splits by a minimum, maximum or select that stands alone in its term; nothing if there is none.
std::optional<bool> Canonical::nonpositive_by_cases(const Polynomial& p, Search& search, int depth) {
  const auto [chosen, both] = Choice(p);
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
