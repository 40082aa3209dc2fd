// proofs.cpp: searches for proofs of p <= 0.
//
// Every query is whether a polynomial p is <= 0. An assumption is another polynomial q that is <= 0, so any
// non-negative multiple of q may be subtracted from p: if the rest is <= 0, so is p. The search tries the multiples
// that cancel a term of p, a few levels deep. Besides the assumptions of the facts, the atoms of p imply inequalities
// of their own: the bounds of a product's factors, and c * (x // c) <= x < c * (x // c) + c. Minima, maxima and selects
// are split into cases. Each branch ends with the range of the polynomial.
//
// Rejected: Fourier-Motzkin elimination and simplex (complete for linear facts, but products of symbols are common
// here, and a query must take microseconds).
#include <algorithm>
#include <utility>

#include "compiler/arith/canonical.h"
#include "compiler/arith/range.h"
#include "compiler/arith/visit.h"

namespace relaxc::arith {
namespace {

/// A minimum, maximum or select that is alone in a term; null if there is none. If `both`, the claim must hold in both
/// cases; such choices come first, since which case of another one suffices may differ between theirs.
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

struct Proofs::Search {
  int tries = 300;  ///< multiples of assumptions that may still be subtracted
  int cases = 24;   ///< cases that may still be tried
};

bool Proofs::proves_nonpositive(const Polynomial& p) {
  constexpr int kInARow = 3;        // assumptions that are combined; ceil-div of a tiled loop takes all
  constexpr int64_t kSteps = 2048;  // for this proof and all that it starts
  Canonical::Question question(canonical_, kSteps);
  auto first = [&](auto term) { return term->first.empty() ? ~uint32_t{0} : term->first[0]->id; };
  if (std::optional<int64_t> value = p.as_constant()) return *value <= 0;
  auto& same = proved_[{first(p.terms.begin()), first(std::prev(p.terms.end()))}];
  for (const auto& [known, holds] : same)
    if (known == p) return holds;
  Search search;
  bool holds = nonpositive(p, search, kInARow);
  if (holds || !canonical_.budget().is_spent() || !question.is_part()) same.emplace_back(p, holds);
  return holds;
}

bool Proofs::proves_order(Expr a, Expr b, int64_t gap) {
  auto difference = canonical_.sum_of(a, b, -1);
  return difference && difference->add({}, gap) && proves_nonpositive(*difference);
}

bool Proofs::nonpositive(const Polynomial& p, Search& search, int depth) {
  if (!canonical_.budget().afford(1 + p.steps())) return canonical_.ranges().range_by_terms(p).upper <= 0;
  // The cases are tried below, so range() need not try them first.
  bool has_cases = Choice(p).monomial != nullptr && search.cases > 0;
  if ((has_cases ? canonical_.ranges().range(p, 0) : canonical_.ranges().range(p)).upper <= 0) return true;
  if (auto split = nonpositive_by_cases(p, search, depth)) return *split;
  if (depth == 0) return false;
  auto known_nonnegative = [&](const Monomial& m) {
    return std::all_of(m.begin(), m.end(), [&](Expr e) { return canonical_.ranges().range_of_atom(e).lower >= 0; });
  };
  std::vector<Polynomial> own = implied(p);
  auto cancels = [&](const Polynomial& assumed) {
    if (!canonical_.budget().afford(1)) return false;
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
  const Assumptions& assumed = canonical_.assumptions();
  const std::vector<size_t> places = assumed.places_about(p);
  return std::any_of(places.begin(), places.end(), [&](size_t i) { return cancels(assumed.nonpositive(i)); }) ||
         std::any_of(own.begin(), own.end(), cancels);
}

/// Tries the cases of a minimum, maximum or select that is alone in its term; nothing if there is none.
std::optional<bool> Proofs::nonpositive_by_cases(const Polynomial& p, Search& search, int depth) {
  const Choice found(p);
  const Monomial* chosen = found.monomial;
  if (chosen == nullptr) return std::nullopt;
  if (--search.cases < 0) return false;
  Expr e = chosen->front();
  int64_t coefficient = p.terms.at(*chosen);
  auto holds = [&](Expr value) {
    auto made = sum(without(p, *chosen), poly(value), coefficient);
    return made && nonpositive(*made, search, depth);
  };
  const auto* choice = e.as<Select>();
  if (choice != nullptr) return holds(choice->then_value) && holds(choice->else_value);
  const auto& n = static_cast<const Binary&>(*e.node());
  return found.both ? holds(n.b) && holds(n.a) : holds(n.b) || holds(n.a);
}

/// Polynomials that are <= 0 by the ranges of the atoms of `p` and by what quotients are.
std::vector<Polynomial> Proofs::implied(const Polynomial& p) {
  std::vector<Polynomial> found;
  auto add_fact = [&](std::optional<Polynomial> fact) {
    if (fact) found.push_back(std::move(*fact));
  };
  std::vector<Expr> seen;
  for (const auto& [monomial, _] : p.terms)
    for (Expr e : monomial) {
      if (std::find(seen.begin(), seen.end(), e) != seen.end()) continue;
      seen.push_back(e);
      Range values = canonical_.ranges().range_of_atom(e);
      Polynomial own = Polynomial::atom(e);
      if (values.has_lower() && monomial.size() > 1) add_fact(sum(Polynomial::constant(values.lower), own, -1));
      if (values.has_upper() && monomial.size() > 1) add_fact(sum(own, Polynomial::constant(values.upper), -1));
      const auto* n = e.as<FloorDiv>();
      if (n == nullptr || canonical_.ranges().range(poly(n->b), 1).lower <= 0) continue;
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
