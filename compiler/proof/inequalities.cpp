// inequalities.cpp: splits cases by the conditions in the expressions, and asks arith's prover in each.
//
// A plan may choose between two layouts by the sizes of a run: its offsets are selects with one condition. Each layout
// is right for a reason of its own, so the condition is assumed, and then its opposite, and every select on it is
// replaced by one of its arms before the prover is asked. If it finds no proof, values are tried at which all
// alternatives fail: small ones, large ones and mixtures. A counterexample must meet all facts.
//
// Offsets are sums of maxima of sums. The prover bounds how many maxima it splits, since it is called all the time
// while compiling; if it gives up, they are split here, and it is asked about the rest.
//
// Rejected: asking the prover about the selects themselves. It looks at both arms of each select separately, and so at
// combinations that no run has.
#include "compiler/proof/inequalities.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "compiler/arith/canonical.h"
#include "compiler/arith/visit.h"

namespace relaxc::proof {
namespace {

constexpr int kDeepest = 6;      ///< maximum nesting of cases
constexpr int kMostTries = 400;  ///< maximum number of splits of maxima for one inequality

/// Returns the condition of some select; null if there is none.
Expr choice_in(const std::vector<Inequality>& alternatives) {
  Expr condition;
  auto look = [&](Expr e) {
    arith::for_each_node(e, [&](Expr node) {
      const auto* select = node.as<arith::Select>();
      if (!condition && select != nullptr && node.dtype().is_index() && !has_loads(select->condition))
        condition = select->condition;
    });
  };
  for (const Inequality& one : alternatives) look(one.a), look(one.b);
  return condition;
}

Expr with_choice(Expr e, Expr condition, bool holds) {
  return arith::rewrite(e, [&](Expr node) {
    const auto* select = node.as<arith::Select>();
    if (select == nullptr || select->condition != condition) return node;
    return holds ? select->then_value : select->else_value;
  });
}

/// Returns `a` - `b` over the gcd of its coefficients, with the same sign; nothing on overflow or if it is 0.
std::optional<arith::Polynomial> direction(arith::Canonical& canonical, Expr a, Expr b) {
  const arith::Polynomial first = canonical.poly(a);
  auto difference = arith::sum(first, canonical.poly(b), -1);
  if (!difference || difference->is_zero()) return std::nullopt;
  arith::Polynomial reduced = arith::primitive(*difference);
  const bool turned = (reduced.terms.begin()->second > 0) != (difference->terms.begin()->second > 0);
  return turned ? arith::sum({}, reduced, -1) : reduced;
}

/// Replaces minima in `e` whose operands the condition compares by the smaller operand: a plan is often chosen because
/// it is the smaller one.
Expr with_smaller(arith::Canonical& canonical, Expr e, Expr condition, bool holds) {
  if (condition->kind != arith::ExprKind::kLe && condition->kind != arith::ExprKind::kLt) return e;
  const auto& compared = static_cast<const arith::Binary&>(*condition.node());
  if (!compared.a.dtype().is_index()) return e;
  const auto known = direction(canonical, compared.a, compared.b);
  return arith::rewrite(e, [&](Expr node) {
    const auto* least = node.as<arith::Min>();
    if (least == nullptr || !known || !node.dtype().is_index()) return node;
    const auto theirs = direction(canonical, least->a, least->b);
    if (theirs && *theirs == *known) return holds ? least->a : least->b;
    if (const auto turned = direction(canonical, least->b, least->a); turned && *turned == *known)
      return holds ? least->b : least->a;
    return node;
  });
}

/// A minimum or maximum that is a term of a sum. If `both`, each operand in its place must give a proof; otherwise one
/// of them is enough.
struct Extreme {
  const arith::Monomial* monomial = nullptr;
  int64_t coefficient = 0;
  bool both = false;

  explicit Extreme(const arith::Polynomial& p) {
    for (const auto& [candidate, amount] : p.terms) {
      if (candidate.size() != 1 || both) continue;
      const arith::ExprKind kind = candidate[0]->kind;
      if (kind != arith::ExprKind::kMin && kind != arith::ExprKind::kMax) continue;
      both = (kind == arith::ExprKind::kMax) == (amount > 0);
      if (both || monomial == nullptr) monomial = &candidate, coefficient = amount;
    }
  }
};

/// Returns whether p <= 0 was proved.
bool nonpositive(arith::Canonical& canonical, const arith::Polynomial& p, int& tries) {
  if (--tries < 0) return false;
  const Extreme extreme(p);
  if (extreme.monomial == nullptr) return canonical.proofs().proves_nonpositive(p);
  const arith::Polynomial rest = arith::without(p, *extreme.monomial);
  auto holds = [&](Expr operand) {
    auto made = arith::sum(rest, canonical.poly(operand), extreme.coefficient);
    return made && nonpositive(canonical, *made, tries);
  };
  const auto& of = static_cast<const arith::Binary&>(*extreme.monomial->front().node());
  return extreme.both ? holds(of.a) && holds(of.b) : holds(of.a) || holds(of.b);
}

/// Generates sets of values of variables that fit the variables' ranges and residue classes.
class Samples {
 public:
  Samples(std::vector<arith::Var> vars, const arith::Facts& facts) : vars_(std::move(vars)), facts_(facts) {}
  static constexpr size_t kMany = 400;

  using Values = std::map<uint32_t, std::pair<arith::Var, int64_t>>;  ///< by the variable's id
  Values at(size_t place) {
    constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 64, 100, 255, 256, 1000, 4096};
    Values values;
    for (arith::Var var : vars_) {
      size_t pick = place < std::size(kSizes) ? place : random_() % std::size(kSizes);
      values[var->id] = {var, fitting(var, kSizes[pick])};
    }
    return values;
  }

 private:
  int64_t fitting(arith::Var var, int64_t value) const {
    arith::Range range = facts_.range_of(var);
    arith::Congruence of = facts_.congruence_of(var);
    if (range.has_upper()) value = std::min(value, range.upper);
    if (range.has_lower()) value = std::max(value, range.lower);
    if (of.modulus <= 1) return of.modulus == 0 ? of.remainder : value;
    int64_t above = ((of.remainder - value) % of.modulus + of.modulus) % of.modulus;
    bool fits = !range.has_upper() || value <= range.upper - above;
    return fits ? value + above : value + above - of.modulus;
  }

  std::vector<arith::Var> vars_;
  const arith::Facts& facts_;
  std::minstd_rand random_{1};
};

}  // namespace

bool has_loads(Expr e) {
  bool found = false;
  arith::for_each_node(e, [&](Expr node) { found = found || node.as<arith::Load>() != nullptr; });
  return found;
}

/// The facts and caches of one case: what is known after assuming some conditions.
struct Inequalities::Case {
  Case(Context& context, arith::Facts known)
      : facts(std::move(known)), prover(context, facts), canonical(context, facts, arith::Equalities::kSubstitute) {}
  arith::Facts facts;
  arith::Prover prover;
  arith::Canonical canonical;
  std::map<std::pair<uint32_t, bool>, std::unique_ptr<Case>> further;  ///< by condition id and value
};

Inequalities::Inequalities(Context& context, const arith::Facts& facts, std::set<uint32_t> inputs)
    : context_(context),
      inputs_(std::move(inputs)),
      root_(std::make_unique<Case>(context, facts)),
      simplifier_(root_->facts) {}
Inequalities::~Inequalities() = default;

bool Inequalities::equal(Expr a, Expr b) {
  return a == b || root_->prover.proves_equal(a, b);
}

/// Simplifies conditions of selects, so that equivalent ones become equal.
Expr Inequalities::with_canonical_choices(Expr e) {
  auto [known, fresh] = canonical_choices_.emplace(e, e);
  if (!fresh) return known->second;
  return canonical_choices_[e] = arith::rewrite(e, [&](Expr node) {
           const auto* select = node.as<arith::Select>();
           if (select == nullptr || !node.dtype().is_index()) return node;
           return arith::select(simplifier_.simplify(select->condition), select->then_value, select->else_value);
         });
}

Verdict Inequalities::any_of(const std::vector<Inequality>& alternatives, std::string& why) {
  std::vector<Inequality> prepared;
  for (const Inequality& one : alternatives)
    prepared.push_back({with_canonical_choices(one.a), with_canonical_choices(one.b)});
  if (proved(*root_, prepared, kDeepest)) return Verdict::kProved;
  why = counterexample(alternatives);
  if (!why.empty()) return Verdict::kRefuted;
  why = "no proof and no counterexample was found";
  return Verdict::kUndecided;
}

bool Inequalities::proved(Case& known, const std::vector<Inequality>& alternatives, int depth) {
  Expr condition = depth > 0 ? choice_in(alternatives) : Expr();
  if (condition) return proved_by_cases(known, alternatives, condition, depth);
  if (std::any_of(alternatives.begin(), alternatives.end(),
                  [&](const Inequality& one) { return known.prover.proves_le(one.a, one.b); }))
    return true;
  return std::any_of(alternatives.begin(), alternatives.end(), [&](const Inequality& one) {
    const arith::Polynomial& a = known.canonical.poly(one.a);
    auto difference = arith::sum(a, known.canonical.poly(one.b), -1);
    int tries = kMostTries;
    return difference && nonpositive(known.canonical, *difference, tries);
  });
}

bool Inequalities::proved_by_cases(Case& known, const std::vector<Inequality>& alternatives, Expr condition,
                                   int depth) {
  const arith::Truth truth = known.prover.decide(condition);
  for (bool holds : {true, false}) {
    if (truth == (holds ? arith::Truth::kFalse : arith::Truth::kTrue)) continue;
    std::unique_ptr<Case>& next = known.further[{condition->id, holds}];
    if (next == nullptr) {
      arith::Facts facts = known.facts;
      facts.assume(holds ? condition : arith::logical_not(condition));
      next = std::make_unique<Case>(context_, std::move(facts));
    }
    if (!next->facts.conflict().empty()) continue;  // no values lead to this case
    std::vector<Inequality> arms;
    auto chosen = [&](Expr e) {
      return with_smaller(known.canonical, with_choice(e, condition, holds), condition, holds);
    };
    for (const Inequality& one : alternatives) arms.push_back({chosen(one.a), chosen(one.b)});
    if (!proved(*next, arms, depth - 1)) return false;
  }
  return true;
}

/// Returns values such as "n=3, m=1" at which no alternative holds; empty if none were found.
std::string Inequalities::counterexample(const std::vector<Inequality>& alternatives) {
  const arith::Facts& facts = root_->facts;
  std::map<uint32_t, arith::Var> all;
  auto meet = [&](Expr e) {
    for (arith::Var var : arith::free_vars(e)) all.emplace(var->id, var);
  };
  for (const Inequality& one : alternatives) meet(one.a), meet(one.b);
  const size_t asked = all.size();
  if (std::any_of(all.begin(), all.end(), [&](const auto& var) { return inputs_.count(var.first) == 0; })) return {};
  for (Expr assumed : facts.assumptions()) meet(assumed);
  std::vector<arith::Var> vars;
  for (const auto& [_, var] : all) vars.push_back(var);
  Samples samples(vars, facts);
  for (size_t i = 0; i < (asked == 0 ? 1 : Samples::kMany); ++i) {
    auto values = samples.at(i);
    auto value_of = [&](arith::Var var) { return values.at(var->id).second; };
    bool admitted = std::all_of(facts.assumptions().begin(), facts.assumptions().end(),
                                [&](Expr assumed) { return arith::evaluate(assumed, value_of).value_or(0) == 1; });
    auto fails = [&](const Inequality& one) {
      auto a = arith::evaluate(one.a, value_of), b = arith::evaluate(one.b, value_of);
      return a && b && *a > *b;
    };
    if (!admitted || !std::all_of(alternatives.begin(), alternatives.end(), fails)) continue;
    std::string text;
    for (const auto& [_, one] : values)
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", one.first.name(), one.second);
    return text.empty() ? "always" : "at " + text;
  }
  return {};
}

}  // namespace relaxc::proof
