// facts.cpp: turning conditions into bounds where they are that simple, and keeping the rest for the provers.
#include "compiler/arith/facts.h"

#include <numeric>

#include "compiler/arith/range.h"
#include "compiler/arith/visit.h"

namespace relaxc::arith {
namespace {

Expr negation(Expr condition) {
  Context& context = condition.context();
  if (const auto* lt = condition.as<Lt>()) return context.binary(ExprKind::kLe, lt->b, lt->a);
  if (const auto* le = condition.as<Le>()) return context.binary(ExprKind::kLt, le->b, le->a);
  if (const auto* n = condition.as<Eq>()) return context.binary(ExprKind::kNe, n->a, n->b);
  if (const auto* n = condition.as<Ne>()) return context.binary(ExprKind::kEq, n->a, n->b);
  return Expr();
}

}  // namespace

void Facts::bound(Var var, Range range) {
  Known& known = vars_[var];
  known.range = intersect(known.range, range);
}

void Facts::multiple(Var var, int64_t factor) {
  Known& known = vars_[var];
  int64_t common = 0;
  bool fits = !__builtin_mul_overflow(known.multiple / std::gcd(known.multiple, factor), factor, &common);
  known.multiple = fits ? common : std::max(known.multiple, factor);
}

void Facts::assume(Expr condition) {
  if (condition.constant() != nullptr) return;
  if (const auto* both = condition.as<And>()) {
    assume(both->a);
    assume(both->b);
    return;
  }
  if (const auto* inverse = condition.as<Not>())
    if (Expr direct = negation(inverse->a)) return assume(direct);
  ExprKind kind = condition->kind;
  bool ordered = kind == ExprKind::kLt || kind == ExprKind::kLe, equal = kind == ExprKind::kEq;
  if (ordered || equal) {
    const auto& n = static_cast<const Binary&>(*condition.node());
    int64_t strict = kind == ExprKind::kLt ? 1 : 0;
    const int64_t *a = n.a.constant(), *b = n.b.constant();
    const auto *x = n.a.as<VarNode>(), *y = n.b.as<VarNode>();
    bool index = n.a.dtype().is_index();
    if (index && x && b && *b > INT64_MIN)
      return bound(Var(x), equal ? Range::exactly(*b) : Range{INT64_MIN, *b - strict});
    if (index && y && a && *a < INT64_MAX)
      return bound(Var(y), equal ? Range::exactly(*a) : Range::at_least(*a + strict));
    const auto* mod = n.a.as<FloorMod>();
    if (equal && b && *b == 0 && mod && mod->b.constant() && *mod->b.constant() > 0 && mod->a.as<VarNode>())
      return multiple(Var(mod->a.as<VarNode>()), *mod->b.constant());
  }
  assumptions_.push_back(condition);
}

Range Facts::range_of(Expr var) const {
  auto found = vars_.find(var);
  return found == vars_.end() ? Range() : found->second.range;
}

int64_t Facts::multiple_of(Expr var) const {
  auto found = vars_.find(var);
  return found == vars_.end() ? 1 : found->second.multiple;
}

}  // namespace relaxc::arith
