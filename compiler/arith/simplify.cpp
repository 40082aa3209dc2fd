// simplify.cpp: the public queries, answered by Canonical.
#include "compiler/arith/simplify.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/arith/canonical.h"
#include "compiler/arith/prover.h"

namespace relaxc::arith {

/// Evaluates `and`, `or` and `not` over conditions in three-valued logic, each node once.
class Decision {
 public:
  Decision(Canonical& canonical, const Facts& facts) : canonical_(canonical), assumptions_(facts.assumptions()) {}

  Truth of(Expr root) {
    std::vector<std::pair<Expr, bool>> stack = {{root, false}};
    while (!stack.empty()) {
      auto [e, ready] = stack.back();
      stack.pop_back();
      if (truths_.count(e) != 0) continue;
      bool joins = e.as<And>() != nullptr || e.as<Or>() != nullptr || e.as<Not>() != nullptr;
      if (ready || !joins) {
        truths_[e] = joins ? joined(e) : alone(e);
        continue;
      }
      stack.push_back({e, true});
      for (Expr part : operands(e)) stack.push_back({part, false});
    }
    return truths_.at(root);
  }

 private:
  static Truth inverse(Truth truth) {
    return truth == Truth::kUnknown ? truth : truth == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
  }

  Truth joined(Expr e) {
    if (std::find(assumptions_.begin(), assumptions_.end(), e) != assumptions_.end()) return Truth::kTrue;
    if (const auto* no = e.as<Not>()) return inverse(truths_.at(no->a));
    const auto& n = static_cast<const Binary&>(*e.node());
    Truth a = truths_.at(n.a), b = truths_.at(n.b);
    Truth decisive = n.kind == ExprKind::kAnd ? Truth::kFalse : Truth::kTrue;
    if (a == decisive || b == decisive) return decisive;
    return a == Truth::kUnknown || b == Truth::kUnknown ? Truth::kUnknown : inverse(decisive);
  }

  Truth alone(Expr e) {
    Expr form = canonical_.expr(e);
    if (form.constant() != nullptr) return *form.constant() != 0 ? Truth::kTrue : Truth::kFalse;
    for (Expr known : assumptions_) {
      if (known == e || known == form) return Truth::kTrue;
      const auto* no = known.as<Not>();
      if (no != nullptr && (no->a == e || no->a == form)) return Truth::kFalse;
    }
    return Truth::kUnknown;
  }

  Canonical& canonical_;
  const std::vector<Expr>& assumptions_;
  std::unordered_map<Expr, Truth> truths_;
};

namespace {

bool proves_equal(Canonical& canonical, Expr a, Expr b) {
  if (a == b) return true;
  if (!a.dtype().is_index() || !b.dtype().is_index()) return false;
  const auto [one, other] = canonical.polys(a, b);
  return one == other || (canonical.proofs().proves_order(a, b, 0) && canonical.proofs().proves_order(b, a, 0));
}

bool proves_order(Expr a, Expr b, int64_t gap, const Facts& facts) {
  return Canonical(a.context(), facts, Equalities::kSubstitute).proofs().proves_order(a, b, gap);
}

}  // namespace

Expr simplify(Expr e, const Facts& facts) {
  return Canonical(e.context(), facts, Equalities::kKeep).expr(e);
}

Range bounds(Expr e, const Facts& facts) {
  Canonical canonical(e.context(), facts, Equalities::kSubstitute);
  if (e.dtype().is_index()) return canonical.bounds(canonical.poly(e));
  Expr value = canonical.expr(e);
  return value.constant() != nullptr ? Range::exactly(*value.constant()) : Range{0, 1};
}

Congruence congruence(Expr e, const Facts& facts) {
  Canonical canonical(e.context(), facts, Equalities::kSubstitute);
  return canonical.ranges().congruence(canonical.poly(e));
}

int64_t divisor(Expr e, const Facts& facts) {
  return divisor(congruence(e, facts));
}

Truth decide(Expr condition, const Facts& facts) {
  Canonical canonical(condition.context(), facts, Equalities::kSubstitute);
  return Decision(canonical, facts).of(condition);
}

bool prove(Expr condition, const Facts& facts) {
  return decide(condition, facts) == Truth::kTrue;
}

bool prove_equal(Expr a, Expr b, const Facts& facts) {
  if (a == b) return true;
  Canonical canonical(a.context(), facts, Equalities::kSubstitute);
  return proves_equal(canonical, a, b);
}

bool prove_le(Expr a, Expr b, const Facts& facts) {
  return a == b || proves_order(a, b, 0, facts);
}

bool prove_lt(Expr a, Expr b, const Facts& facts) {
  return proves_order(a, b, 1, facts);
}

struct Prover::State {
  State(Context& context, const Facts& known)
      : facts(known), canonical(context, facts, Equalities::kSubstitute), decision(canonical, facts) {}

  Facts facts;
  Canonical canonical;
  Decision decision;
};

Prover::Prover(Context& context, const Facts& facts) : state_(std::make_unique<State>(context, facts)) {}
Prover::~Prover() = default;

Range Prover::bounds(Expr e) {
  return state_->canonical.bounds(state_->canonical.poly(e));
}
int64_t Prover::divisor(Expr e) {
  return arith::divisor(state_->canonical.ranges().congruence(state_->canonical.poly(e)));
}
bool Prover::proves_le(Expr a, Expr b) {
  return a == b || state_->canonical.proofs().proves_order(a, b, 0);
}
bool Prover::proves_equal(Expr a, Expr b) {
  return arith::proves_equal(state_->canonical, a, b);
}
Truth Prover::decide(Expr condition) {
  return state_->decision.of(condition);
}
int64_t Prover::steps() const {
  return state_->canonical.budget().steps();
}

struct Simplifier::State {
  State(Context& context, const Facts& known)
      : facts(known), revision(known.revision()), canonical(context, facts, Equalities::kKeep) {}

  Facts facts;
  uint64_t revision;
  Canonical canonical;
};

Simplifier::Simplifier(const Facts& facts) : facts_(facts) {}
Simplifier::~Simplifier() = default;

Expr Simplifier::simplify(Expr e) {
  if (state_ == nullptr || state_->revision != facts_.revision()) state_ = std::make_unique<State>(e.context(), facts_);
  return state_->canonical.expr(e);
}

std::string contradiction(const Facts& facts) {
  if (!facts.conflict().empty() || facts.assumptions().empty()) return facts.conflict();
  Prover prover(facts.assumptions()[0].context(), facts);
  for (Expr assumed : facts.assumptions())
    if (Expr opposite = inverse(assumed); opposite && prover.decide(opposite) == Truth::kTrue)
      return fmt::format("{} contradicts what else is known", to_string(assumed));
  return "";
}

}  // namespace relaxc::arith
