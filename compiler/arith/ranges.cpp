// ranges.cpp: computes a range and a residue class for the values of polynomials and atoms.
//
// The base is the sum over terms. Minima, maxima and selects are then split into cases, and x // c is replaced by its
// rational bounds; each of these ranges is sound, so their intersection is. The residue class then tightens the
// bounds.
#include <algorithm>
#include <numeric>
#include <utility>

#include "compiler/arith/canonical.h"
#include "compiler/arith/operand_list.h"
#include "compiler/arith/range.h"
#include "compiler/arith/visit.h"

namespace relaxc::arith {

/// The range and congruence of an atom, after those of all atoms in it, without recursion: they nest deeply.
Ranges::Known Ranges::known(Expr root) {
  auto found = known_.find(root);
  if (found != known_.end()) return found->second;
  std::vector<std::pair<Expr, bool>> stack = {{root, false}};
  while (!stack.empty()) {
    auto [e, ready] = stack.back();
    stack.pop_back();
    if (ready) {
      known_[e] = learn(e);
      continue;
    }
    if (!known_.try_emplace(e).second) continue;
    stack.push_back({e, true});
    for (Expr operand : OperandList(e)) {
      if (!operand.dtype().is_index()) continue;
      for (const auto& [monomial, _] : poly(operand).terms)
        for (Expr factor : monomial)
          if (known_.count(factor) == 0) stack.push_back({factor, false});
    }
  }
  return known_.at(root);
}

/// Derives what is known of an atom. It has steps of its own, as it is done once and other answers depend on it.
Ranges::Known Ranges::learn(Expr atom) {
  constexpr int64_t kSteps = 256;
  StepBudget& budget = canonical_.budget();
  const StepBudget::Allowance outside = budget.allowance();
  budget.set_allowance({.left = kSteps, .asked = outside.asked});
  Known made = {range_of_node(atom), congruence_of_node(atom)};
  Range members = tighten(made.range, made.congruence);
  if (members.lower <= members.upper) made.range = members;
  budget.set_allowance(outside);
  return made;
}

Range Ranges::range_of_node(Expr atom) {
  auto of = [&](Expr e) { return range(poly(e), 1); };
  // The ranges of both operands: `b` first, since a query may make nodes and takes steps of the budget
  // (Canonical::polys).
  auto of_both = [&](Range (*combine)(Range, Range), Expr a, Expr b) {
    const Range second = of(b);
    return combine(of(a), second);
  };
  return visit(
      atom, [&](const VarNode&) { return facts_.range_of(atom); },
      [&](const FloorDiv& n) { return of_both(floor_divide, n.a, n.b); },
      [&](const FloorMod& n) { return of_both(floor_remainder, n.a, n.b); },
      [&](const Div& n) { return of_both(truncated_divide, n.a, n.b); },
      [&](const Mod& n) { return of_both(truncated_remainder, n.a, n.b); },
      [&](const Min& n) { return of_both(smaller, n.a, n.b); }, [&](const Max& n) { return of_both(larger, n.a, n.b); },
      [&](const Select& n) { return of_both(hull, n.then_value, n.else_value); },
      [&](const Cast& n) {
        DType from = n.value.dtype();
        if (from.is_bool()) return Range{0, 1};
        // uint64 values above INT64_MAX wrap to negative indices.
        if (!from.is_integer() || from.bits >= 64) return Range();
        int64_t values = int64_t{1} << (from.bits - from.is_int());
        return Range{from.is_int() ? -values : 0, values - 1};
      },
      [](const Binary&) { return Range(); }, [](const IntImm& n) { return Range::exactly(n.value); },
      [](const FloatImm&) { return Range(); }, [](const Not&) { return Range(); }, [](const Load&) { return Range(); },
      [](const Call&) { return Range(); }, [](const Extern&) { return Range(); });
}

Congruence Ranges::congruence_of_node(Expr atom) {
  auto of = [&](Expr e) { return congruence(poly(e)); };
  auto hull_of = [&](Expr a, Expr b) {  // in this order, as above
    const Congruence second = of(b);
    return hull(of(a), second);
  };
  switch (atom->kind) {
    case ExprKind::kVar:
      return facts_.congruence_of(atom);
    case ExprKind::kSelect:
      return hull_of(atom.as<Select>()->then_value, atom.as<Select>()->else_value);
    case ExprKind::kMin:
    case ExprKind::kMax:
    case ExprKind::kFloorDiv:
    case ExprKind::kFloorMod:
    case ExprKind::kMod: {
      const auto& n = static_cast<const Binary&>(*atom.node());
      if (atom->kind == ExprKind::kMin || atom->kind == ExprKind::kMax) return hull_of(n.a, n.b);
      if (atom->kind == ExprKind::kFloorDiv)
        return n.b.constant() != nullptr && *n.b.constant() > 0 ? floor_divide(of(n.a), *n.b.constant()) : Congruence();
      // x % y is x less a multiple of y, whichever way it rounds.
      const Congruence multiples = multiply({1, 0}, of(n.b));
      return add(of(n.a), multiples);
    }
    default:
      return {};
  }
}

Congruence Ranges::congruence(const Polynomial& p) {
  Congruence total = {0, 0};
  for (const auto& [monomial, coefficient] : p.terms) {
    Congruence term = {0, coefficient};
    for (Expr factor : monomial) term = multiply(term, known(factor).congruence);
    total = add(total, term);
  }
  return total;
}

Range Ranges::range_of_term(const Monomial& monomial, int64_t coefficient) {
  Range term = Range::exactly(coefficient);
  for (size_t i = 0; i < monomial.size();) {
    Range base = range_of_atom(monomial[i]), power = base;
    size_t count = 1;
    for (; i + count < monomial.size() && monomial[i + count] == monomial[i]; ++count) power = multiply(power, base);
    if (count % 2 == 0) power = intersect(power, Range::at_least(0));
    term = multiply(term, power);
    i += count;
  }
  return term;
}

Range Ranges::range_by_terms(const Polynomial& p) {
  Range total = Range::exactly(0);
  for (const auto& [monomial, coefficient] : p.terms) total = add(total, range_of_term(monomial, coefficient));
  return total;
}

/// The range over all cases of the first atom that has cases and is alone in its term.
Range Ranges::range_by_cases(const Polynomial& p, int depth) {
  for (const auto& [monomial, coefficient] : p.terms) {
    if (monomial.size() != 1 || coefficient == INT64_MIN) continue;
    Expr e = monomial[0];
    auto with = [&, &monomial = monomial, &coefficient = coefficient](Expr value) -> std::optional<Range> {
      auto made = sum(without(p, monomial), poly(value), coefficient);
      return made ? std::optional(range(*made, depth - 1)) : std::nullopt;
    };
    if (const auto* n = e.as<Select>()) {
      auto a = with(n->then_value), b = with(n->else_value);
      return a && b ? hull(*a, *b) : Range();
    }
    if (e->kind == ExprKind::kMin || e->kind == ExprKind::kMax) {
      const auto& n = static_cast<const Binary&>(*e.node());
      auto a = with(n.a), b = with(n.b);
      if (!a || !b) return Range();
      return (e->kind == ExprKind::kMax) == (coefficient > 0) ? larger(*a, *b) : smaller(*a, *b);
    }
    const auto* n = e.as<FloorDiv>();
    const int64_t* c = n == nullptr ? nullptr : n->b.constant();
    if (c == nullptr || *c <= 0) continue;
    // c * p, where c * (x // c) is in x - c + 1 .. x.
    auto scaled = sum({}, without(p, monomial), *c);
    auto made = scaled ? sum(*scaled, poly(n->a), coefficient) : std::nullopt;
    if (!made) continue;
    Range slack = multiply(Range::exactly(coefficient), Range{1 - *c, 0});
    Range values = add(range(*made, depth - 1), slack);
    Range out;
    if (values.has_lower()) out.lower = -floor_divide(-values.lower, *c);
    if (values.has_upper()) out.upper = floor_divide(values.upper, *c);
    return out;
  }
  return Range();
}

Range Ranges::range(const Polynomial& polynomial, int depth) {
  Polynomial p = canonical_.division().recombine(polynomial);
  Range values = range_by_terms(p);
  constexpr size_t kWorthCases = 24;  // terms
  if (depth > 0 && !values.is_exact() && p.terms.size() <= kWorthCases && canonical_.budget().afford(p.steps())) {
    Range cases = intersect(values, range_by_cases(p, depth));
    if (cases.lower <= cases.upper) values = cases;
  }
  Range members = tighten(values, congruence(p));
  return members.lower <= members.upper ? members : values;
}

}  // namespace relaxc::arith
