// ranges.cpp: ranges and divisors of polynomials, and proofs of p <= 0.
//
// Term by term is the base. Minima, maxima and selects are then resolved case by case, and x // c is replaced by its
// rational neighbours; each view is sound, so their intersection is. A proof subtracts multiples of the assumptions
// (each a polynomial known to be <= 0) until the range of what is left decides.
#include <algorithm>
#include <numeric>

#include "compiler/arith/canonical.h"
#include "compiler/arith/range.h"
#include "compiler/arith/visit.h"

namespace relaxc::arith {

Range Canonical::range_of_atom(Expr atom) {
  auto found = ranges_.find(atom);
  if (found != ranges_.end()) return found->second;
  auto of = [&](Expr e) { return range(poly(e), 1); };
  Range made = visit(
      atom, [&](const VarNode&) { return facts_.range_of(atom); },
      [&](const FloorDiv& n) { return floor_divide(of(n.a), of(n.b)); },
      [&](const FloorMod& n) {
        Range divisor = of(n.b), dividend = of(n.a);
        if (divisor.lower <= 0) return Range();
        Range below = {0, divisor.has_upper() ? divisor.upper - 1 : INT64_MAX};
        return dividend.lower >= 0 ? intersect(below, {0, dividend.upper}) : below;
      },
      [&](const Min& n) { return smaller(of(n.a), of(n.b)); }, [&](const Max& n) { return larger(of(n.a), of(n.b)); },
      [&](const Select& n) { return hull(of(n.then_value), of(n.else_value)); },
      [&](const Cast& n) {
        DType from = n.value.dtype();
        if (from.is_bool()) return Range{0, 1};
        if (from.is_uint()) return Range{0, from.bits >= 63 ? INT64_MAX : (int64_t{1} << from.bits) - 1};
        if (!from.is_int() || from.bits >= 64) return Range();
        return Range{-(int64_t{1} << (from.bits - 1)), (int64_t{1} << (from.bits - 1)) - 1};
      },
      [](const Binary&) { return Range(); }, [](const IntImm& n) { return Range::exactly(n.value); },
      [](const FloatImm&) { return Range(); }, [](const Not&) { return Range(); }, [](const Load&) { return Range(); },
      [](const Call&) { return Range(); });
  // uint64 values above INT64_MAX wrap to negative indices.
  if (const auto* cast = atom.as<Cast>(); cast != nullptr && cast->value.dtype() == DType::u(64)) made = Range();
  return ranges_[atom] = made;
}

Range Canonical::range_by_terms(const Polynomial& p) {
  Range total = Range::exactly(0);
  for (const auto& [monomial, coefficient] : p.terms) {
    Range term = Range::exactly(coefficient);
    for (size_t i = 0; i < monomial.size();) {
      Range base = range_of_atom(monomial[i]), power = base;
      size_t count = 1;
      for (; i + count < monomial.size() && monomial[i + count] == monomial[i]; ++count) power = multiply(power, base);
      if (count % 2 == 0) power = intersect(power, Range::at_least(0));
      term = multiply(term, power);
      i += count;
    }
    total = add(total, term);
  }
  return total;
}

/// Resolves the first atom that has cases and stands alone in its term.
Range Canonical::range_by_cases(const Polynomial& p, int depth) {
  for (const auto& [monomial, coefficient] : p.terms) {
    if (monomial.size() != 1 || coefficient == INT64_MIN) continue;
    Expr e = monomial[0];
    auto with = [&, &monomial = monomial, &coefficient = coefficient](Expr value) -> std::optional<Range> {
      Polynomial old;
      old.add(monomial, coefficient);
      auto rest = sum(p, old, -1);
      auto made = rest ? sum(*rest, poly(value), coefficient) : std::nullopt;
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
    // c * p, where c * (x // c) lies in x - c + 1 .. x.
    Polynomial old;
    old.add(monomial, coefficient);
    auto rest = sum(p, old, -1);
    auto scaled = rest ? sum({}, *rest, *c) : std::nullopt;
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

Range Canonical::range(const Polynomial& polynomial, int depth) {
  Polynomial p = recombine(polynomial);
  Range values = range_by_terms(p);
  constexpr size_t kWorthCases = 24;  // terms
  if (depth > 0 && !values.is_exact() && p.terms.size() <= kWorthCases) {
    Range cases = intersect(values, range_by_cases(p, depth));
    if (cases.lower <= cases.upper) values = cases;
  }
  return values;
}

int64_t Canonical::divisor_of_atom(Expr atom) {
  auto found = divisors_.find(atom);
  if (found != divisors_.end()) return found->second;
  int64_t made = 1;
  if (atom.as<VarNode>() != nullptr) made = facts_.multiple_of(atom);
  if (const auto* n = atom.as<Select>()) made = std::gcd(divisor(poly(n->then_value)), divisor(poly(n->else_value)));
  if (atom->kind == ExprKind::kMin || atom->kind == ExprKind::kMax) {
    const auto& n = static_cast<const Binary&>(*atom.node());
    made = std::gcd(divisor(poly(n.a)), divisor(poly(n.b)));
  }
  if (const auto* n = atom.as<FloorDiv>(); n != nullptr && n->b.constant() != nullptr && *n->b.constant() > 0) {
    int64_t dividend = divisor(poly(n->a));
    if (dividend % *n->b.constant() == 0) made = dividend / *n->b.constant();
  }
  return divisors_[atom] = std::max<int64_t>(made, 1);
}

int64_t Canonical::divisor(const Polynomial& p) {
  int64_t common = 0;
  for (const auto& [monomial, coefficient] : p.terms) {
    int64_t term = coefficient == INT64_MIN ? 1 : std::abs(coefficient), next = 0;
    for (Expr factor : monomial)
      if (!__builtin_mul_overflow(term, divisor_of_atom(factor), &next)) term = next;
    common = std::gcd(common, term);
  }
  return common;
}

void Canonical::read_assumptions() {
  if (facts_.assumptions().empty()) return;
  for (Expr e : facts_.assumptions()) {
    ExprKind kind = e->kind;
    if (kind != ExprKind::kEq && kind != ExprKind::kLt && kind != ExprKind::kLe) continue;
    const auto& n = static_cast<const Binary&>(*e.node());
    if (!n.a.dtype().is_index()) continue;
    Polynomial a = poly(n.a), b = poly(n.b);
    auto difference = sum(a, b, -1), opposite = sum(b, a, -1);
    if (!difference || !opposite) continue;
    if (kind == ExprKind::kLt && !difference->add({}, 1)) continue;
    nonpositive_.push_back(*difference);
    if (kind == ExprKind::kEq) nonpositive_.push_back(*opposite);
  }
}

bool Canonical::proves_nonpositive(const Polynomial& p) {
  int tries = 300;
  return nonpositive(p, 3, tries);
}

bool Canonical::nonpositive(const Polynomial& p, int depth, int& tries) {
  if (range(p).upper <= 0) return true;
  if (depth == 0) return false;
  auto known_nonnegative = [&](const Monomial& m) {
    return std::all_of(m.begin(), m.end(), [&](Expr e) { return range_of_atom(e).lower >= 0; });
  };
  for (const Polynomial& assumed : nonpositive_)
    for (const auto& [monomial, coefficient] : p.terms)
      for (const auto& [part, amount] : assumed.terms) {
        if (part.empty() || coefficient == INT64_MIN || coefficient % amount != 0 || coefficient / amount <= 0)
          continue;
        auto factor = arith::divide(monomial, part);
        if (!factor || !known_nonnegative(*factor)) continue;
        if (--tries < 0) return false;
        // p <= p - scale * assumed, for scale >= 0.
        Polynomial scale;
        scale.add(*factor, coefficient / amount);
        auto taken = product(scale, assumed);
        auto rest = taken ? sum(p, *taken, -1) : std::nullopt;
        if (rest && nonpositive(*rest, depth - 1, tries)) return true;
      }
  return false;
}

}  // namespace relaxc::arith
