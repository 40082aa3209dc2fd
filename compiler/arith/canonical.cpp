// canonical.cpp: converts expressions to polynomials over atoms, and back.
#include "compiler/arith/canonical.h"

#include <algorithm>
#include <utility>

#include "compiler/arith/operand_list.h"
#include "compiler/arith/range.h"
#include "compiler/arith/visit.h"

namespace relaxc::arith {

Canonical::Canonical(Context& context, const Facts& facts, Equalities equalities)
    : context_(context),
      facts_(facts),
      conditions_(*this),
      division_(*this),
      ranges_(*this, facts),
      assumptions_(*this, facts, equalities),
      proofs_(*this) {}

Canonical::Question::Question(Canonical& canonical, int64_t steps)
    : canonical_(canonical), is_part_(canonical.budget_.allowance().asked) {
  if (!is_part_) canonical_.budget_.set_allowance({.left = steps, .asked = true});
}

Canonical::Question::~Question() {
  if (is_part_) return;
  canonical_.budget_.set_allowance({.left = canonical_.budget_.allowance().left, .asked = false});
  canonical_.forget_doubtful();
}

void Canonical::forget_doubtful() {
  for (Expr e : doubtful_) polys_.erase(e), exprs_.erase(e);
  doubtful_.clear();
}

Canonical::Memory Canonical::set_aside() {
  proofs_.forget();
  return {.polys = std::exchange(polys_, {}),
          .exprs = std::exchange(exprs_, {}),
          .doubtful = std::exchange(doubtful_, {}),
          .known = std::exchange(ranges_.memory(), {}),
          .members = std::exchange(conditions_.memory(), {}),
          .exact = std::exchange(division_.memory(), {})};
}

void Canonical::bring_back(Memory memory) {
  auto merge = [](auto& outside, auto& own) {
    outside.merge(own);
    std::swap(outside, own);
  };
  merge(memory.polys, polys_);
  merge(memory.exprs, exprs_);
  merge(memory.known, ranges_.memory());
  merge(memory.members, conditions_.memory());
  merge(memory.exact, division_.memory());
  doubtful_ = std::move(memory.doubtful);
  proofs_.forget();
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

/// Makes the canonical forms of `root` and of the nodes below it that have none, operands first, without recursion.
void Canonical::process(Expr root) {
  auto known = [&](Expr e) { return e.dtype().is_index() ? polys_.count(e) != 0 : exprs_.count(e) != 0; };
  std::vector<std::pair<Expr, bool>> stack = {{root, false}};
  while (!stack.empty()) {
    auto [e, ready] = stack.back();
    stack.pop_back();
    if (known(e)) continue;
    if (!ready) {
      stack.push_back({e, true});
      for (Expr operand : inputs(e))
        if (!known(operand)) stack.push_back({operand, false});
      continue;
    }
    constexpr int64_t kSteps = 2048;  // per node, so that nodes of large programs get no fewer
    Question question(*this, kSteps);
    std::vector<Expr> sums = sums_below(e);
    budget_.afford(1 + sums.size());
    if (e.dtype().is_index()) {
      Polynomial made = sums.empty() ? make(e) : add_up(e, sums);
      polys_.emplace(e, std::move(made));
    } else {
      Expr made = conditions_.condition(e);
      exprs_[e] = made;
      exprs_.try_emplace(made, made);
    }
    if (!question.is_part() || !budget_.is_spent()) continue;
    doubtful_.push_back(e);
    doubtful_.insert(doubtful_.end(), sums.begin(), sums.end());
  }
}

/// The nodes from whose canonical forms that of `e` is made: its operands, those of the sums below it, or the value of
/// a solved variable.
std::vector<Expr> Canonical::inputs(Expr e) const {
  if (Expr solved = assumptions_.solution_of(e)) return {solved};
  std::vector<Expr> from = operands(e);
  for (Expr part : sums_below(e)) {
    OperandList more(part);
    from.front() = more[0];
    from.push_back(more[1]);
  }
  return from;
}

/// The sums and differences at the start of `e`, a sum itself, outermost first, that have no canonical form yet: a + b
/// and (a + b) + c for ((a + b) + c) + d. Their own polynomials would have n^2 / 2 terms where the whole has n.
std::vector<Expr> Canonical::sums_below(Expr e) const {
  auto is_sum = [](Expr x) { return x->kind == ExprKind::kAdd || x->kind == ExprKind::kSub; };
  std::vector<Expr> parts;
  if (!e.dtype().is_index() || !is_sum(e) || !division_.memory().empty()) return parts;
  for (Expr part = OperandList(e)[0]; is_sum(part) && polys_.count(part) == 0; part = OperandList(part)[0])
    parts.push_back(part);
  return parts;
}

/// The sum `e` with `parts`, the sums below it. A part with too many terms becomes an atom, as it does alone.
Polynomial Canonical::add_up(Expr e, const std::vector<Expr>& parts) {
  Polynomial total = poly(OperandList(parts.back())[0]);
  Expr done;  // the part whose polynomial `total` is
  auto add = [&](Expr part) {
    const Terms& terms = poly(OperandList(part)[1]).terms;
    bool minus = part->kind == ExprKind::kSub;
    auto at = terms.begin();
    while (at != terms.end() && at->second != INT64_MIN && total.add(at->first, minus ? -at->second : at->second)) ++at;
    if (at != terms.end() || total.terms.size() > Polynomial::kMostTerms) {
      while (at != terms.begin()) --at, total.add(at->first, minus ? at->second : -at->second);
      if (done) polys_.emplace(done, std::move(total));
      total = make(part);
    }
    done = part;
  };
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) add(*part);
  add(e);
  return total;
}

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
  return same->kind == e->kind ? atom(same) : poly(same);  // folded while rebuilt, so it has a canonical form
}

Polynomial Canonical::make(Expr e) {
  using Maybe = std::optional<Polynomial>;
  Maybe made = visit(
      e, [&](const IntImm& n) -> Maybe { return Polynomial::constant(n.value); },
      [&](const VarNode&) -> Maybe { return value_of(e); }, [&](const Add& n) { return sum_of(n.a, n.b, 1); },
      [&](const Sub& n) { return sum_of(n.a, n.b, -1); },
      [&](const Mul& n) -> Maybe {
        // A product of n sums has 2^n terms, each of which takes n - 1 checked multiplications at run time.
        constexpr size_t kMostExpanded = 32;
        const Polynomial &a = poly(n.a), &b = poly(n.b);
        bool sums = a.terms.size() > 1 && b.terms.size() > 1;
        return sums && a.terms.size() * b.terms.size() > kMostExpanded ? std::nullopt : product(a, b);
      },
      [&](const FloorDiv& n) {
        const Pair both = polys(n.a, n.b);
        return division_.divide(both.a, both.b);
      },
      [&](const FloorMod& n) -> Maybe {
        constexpr size_t kLongest = 32;  // terms; chains of remainders would double them at each step
        const Polynomial &a = poly(n.a), &b = poly(n.b);
        if (a.terms.size() > kLongest) return std::nullopt;
        Maybe quotient = division_.divide(a, b);
        if (!quotient || (b.terms.size() > 1 && !divide_exactly(a, b))) return std::nullopt;
        Maybe whole = product(*quotient, b);
        return whole ? sum(a, *whole, -1) : std::nullopt;
      },
      [&](const Binary& n) -> Maybe {
        if (n.kind == ExprKind::kDiv || n.kind == ExprKind::kMod) return truncate(n);
        if (n.kind != ExprKind::kMin && n.kind != ExprKind::kMax) return std::nullopt;
        const Pair both = polys(n.a, n.b);
        return conditions_.minimum(n.kind, both.a, both.b);
      },
      [&](const Select& n) -> Maybe { return conditions_.selection(n); },
      [&](const Cast&) -> Maybe { return cast_to_index(e); }, [](const Not&) -> Maybe { return std::nullopt; },
      [](const FloatImm&) -> Maybe { return std::nullopt; }, [](const Load&) -> Maybe { return std::nullopt; },
      [](const Call&) -> Maybe { return std::nullopt; }, [](const Extern&) -> Maybe { return std::nullopt; });
  made = division_.replace_exact(std::move(made));
  return made ? *made : opaque(e);
}

Polynomial Canonical::value_of(Expr var) {
  assumptions_.meet(var);
  if (Expr solved = assumptions_.solution_of(var)) return poly(solved);
  Range range = tighten(facts_.range_of(var), facts_.congruence_of(var));
  return range.is_exact() ? Polynomial::constant(range.lower) : Polynomial::atom(var);
}

/// Truncating division is flooring division of the absolute values. Where a sign is unknown there is no result.
std::optional<Polynomial> Canonical::truncate(const Binary& n) {
  Range a = ranges_.range(poly(n.a)), b = ranges_.range(poly(n.b));
  bool below = a.upper <= 0 && a.has_lower();
  if ((a.lower < 0 && !below) || b.lower <= 0) return std::nullopt;
  auto size = below ? sum({}, poly(n.a), -1) : poly(n.a);
  auto quotient = size ? division_.divide(*size, poly(n.b)) : std::nullopt;
  if (quotient && below) quotient = sum({}, *quotient, -1);
  if (!quotient || n.kind == ExprKind::kDiv) return quotient;
  auto whole = product(*quotient, poly(n.b));
  return whole ? sum(poly(n.a), *whole, -1) : std::nullopt;
}

/// An index that was cast to int64 and back, or to a narrower integer that holds all its values, is itself.
Polynomial Canonical::cast_to_index(Expr e) {
  Expr same = rebuilt(e);
  const auto* outer = same.as<Cast>();
  const auto* inner = outer == nullptr ? nullptr : outer->value.as<Cast>();
  if (inner == nullptr || !inner->value.dtype().is_index() || !inner->dtype.is_integer()) return opaque(e);
  Range values = ranges_.range(poly(inner->value));
  bool fits = inner->dtype == DType::i(64) || (inner->dtype.bits == 64 && values.lower >= 0) ||
              (inner->dtype.bits < 64 && wrap_to_dtype(values.lower, inner->dtype) == values.lower &&
               wrap_to_dtype(values.upper, inner->dtype) == values.upper);
  return fits ? poly(inner->value) : opaque(e);
}

Expr Canonical::to_expr(const Polynomial& polynomial) {
  Polynomial p = division_.recombine(polynomial);
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

Range Canonical::bounds(const Polynomial& p) {
  constexpr int64_t kSteps = 1024;
  Question question(*this, kSteps);
  return ranges_.range(p);
}

}  // namespace relaxc::arith
