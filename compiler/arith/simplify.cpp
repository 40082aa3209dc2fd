// simplify.cpp: the questions that others ask, answered by Canonical.
#include "compiler/arith/simplify.h"

#include <algorithm>

#include "compiler/arith/canonical.h"

namespace relaxc::arith {
namespace {

Expr inverse(Expr condition) {
  Context& context = condition.context();
  if (const auto* n = condition.as<Lt>()) return context.binary(ExprKind::kLe, n->b, n->a);
  if (const auto* n = condition.as<Le>()) return context.binary(ExprKind::kLt, n->b, n->a);
  if (const auto* n = condition.as<Eq>()) return context.binary(ExprKind::kNe, n->a, n->b);
  if (const auto* n = condition.as<Ne>()) return context.binary(ExprKind::kEq, n->a, n->b);
  return Expr();
}

bool proves_order(Canonical& canonical, Expr a, Expr b, int64_t gap) {
  auto difference = sum(canonical.poly(a), canonical.poly(b), -1);
  return difference && difference->add({}, gap) && canonical.proves_nonpositive(*difference);
}

/// One comparison or opaque condition, and conditions that `or` joins.
bool proves(Canonical& canonical, Expr condition, const Facts& facts) {
  Expr canonical_form = canonical.expr(condition);
  if (canonical_form.constant() != nullptr) return *canonical_form.constant() != 0;
  for (Expr known : facts.assumptions())
    if (known == condition || known == canonical_form || canonical.expr(known) == canonical_form) return true;
  std::vector<Expr> pending = {condition};
  while (!pending.empty()) {
    Expr e = pending.back();
    pending.pop_back();
    if (const auto* either = e.as<Or>()) {
      pending.push_back(either->b);
      pending.push_back(either->a);
      continue;
    }
    if (const auto* no = e.as<Not>()) {
      if (Expr direct = inverse(no->a)) pending.push_back(direct);
      continue;
    }
    bool compares = e->kind >= ExprKind::kEq && e->kind <= ExprKind::kLe;
    const auto* n = compares ? static_cast<const Binary*>(e.node()) : nullptr;
    if (n == nullptr || !n->a.dtype().is_index()) continue;
    bool below = proves_order(canonical, n->a, n->b, n->kind == ExprKind::kLe || n->kind == ExprKind::kEq ? 0 : 1);
    bool above = n->kind == ExprKind::kEq   ? proves_order(canonical, n->b, n->a, 0)
                 : n->kind == ExprKind::kNe ? proves_order(canonical, n->b, n->a, 1)
                                            : false;
    if (n->kind == ExprKind::kEq ? below && above : below || above) return true;
  }
  return false;
}

}  // namespace

Expr simplify(Expr e, const Facts& facts) {
  return Canonical(e.context(), facts).expr(e);
}

Range bounds(Expr e, const Facts& facts) {
  Canonical canonical(e.context(), facts);
  if (e.dtype().is_index()) return canonical.range(canonical.poly(e));
  Expr value = canonical.expr(e);
  return value.constant() != nullptr ? Range::exactly(*value.constant()) : Range{0, 1};
}

int64_t divisor(Expr e, const Facts& facts) {
  Canonical canonical(e.context(), facts);
  return canonical.divisor(canonical.poly(e));
}

bool prove(Expr condition, const Facts& facts) {
  Canonical canonical(condition.context(), facts);
  std::vector<Expr> pending = {condition};
  while (!pending.empty()) {
    Expr e = pending.back();
    pending.pop_back();
    if (const auto* both = e.as<And>()) {
      pending.push_back(both->a);
      pending.push_back(both->b);
    } else if (!proves(canonical, e, facts)) {
      return false;
    }
  }
  return true;
}

bool prove_equal(Expr a, Expr b, const Facts& facts) {
  if (a == b) return true;
  if (!a.dtype().is_index() || !b.dtype().is_index()) return false;
  Canonical canonical(a.context(), facts);
  auto difference = sum(canonical.poly(a), canonical.poly(b), -1);
  if (!difference) return false;
  return difference->is_zero() || (proves_order(canonical, a, b, 0) && proves_order(canonical, b, a, 0));
}

bool prove_le(Expr a, Expr b, const Facts& facts) {
  Canonical canonical(a.context(), facts);
  return a == b || proves_order(canonical, a, b, 0);
}

bool prove_lt(Expr a, Expr b, const Facts& facts) {
  Canonical canonical(a.context(), facts);
  return proves_order(canonical, a, b, 1);
}

}  // namespace relaxc::arith
