// values.cpp: caches the values of expressions, each for as long as it is valid.
//
// Expressions are graphs with sharing; a node is computed once for each statement that uses it. Where index arithmetic
// is checked, values stay valid to the end of their suite (checks.h says why).
#include "compiler/codegen/llvm/lower/values.h"

#include <utility>

#include "compiler/arith/angle.h"
#include "compiler/arith/walks.h"
#include "compiler/codegen/llvm/lower/checks.h"
#include "compiler/codegen/llvm/lower/expressions.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using arith::ExprKind;
using llvm::Value;

Lanes Values::value(Expr e) {
  Lanes out = pending(e);
  if (out.overflow == nullptr) return out;
  checks_.leave_if(std::exchange(out.overflow, nullptr));
  clear_overflow(e);
  return out;
}

Lanes Values::pending(Expr e) {
  if (const Lanes* bound = bindings_.find(e)) return *bound;
  if (auto it = memo_.find(e); it != memo_.end()) return it->second;
  Lanes out = expressions_.compute(e);
  remember(e, out);
  return out;
}

Lanes Values::pending_if_checked(Expr e) {
  OverflowChecks::Operand optional(checks_, true);
  return pending(e);
}

Value* Values::scalar(Expr e) {
  Lanes out = value(e);
  RELAXC_CHECK(out.is_uniform(), "a value that differs between lanes where only one can be used");
  return out.scalar;
}

/// Removes the overflow flags of `e` and of what is computed whenever `e` is: a test has covered them.
void Values::clear_overflow(Expr e) {
  arith::for_each_reached(e, [&](Expr node) -> std::vector<Expr> {
    auto known = memo_.find(node);
    if (known == memo_.end() || known->second.overflow == nullptr) return {};
    Lanes tested = known->second;
    tested.overflow = nullptr;
    remember(node, tested);
    return arith::eager_operands(node);
  });
}

void Values::remember(Expr e, Lanes value) {
  auto [known, is_new] = memo_.emplace(e, value);
  log_.emplace_back(e, is_new ? std::nullopt : std::optional(known->second));
  known->second = value;
}

void Values::forget_since(size_t mark) {
  for (; log_.size() > mark; log_.pop_back()) {
    const auto& [e, before] = log_.back();
    if (before)
      memo_.insert_or_assign(e, *before);
    else
      memo_.erase(e);
  }
}

/// Forgets values since `mark` that may not hold later: what reads memory may read something else after the next call.
void Values::forget_not_dominating(size_t mark) {
  if (!checks_.are_on()) return forget_since(mark);
  size_t kept = mark;
  for (size_t i = mark; i < log_.size(); ++i) {
    if (must_be_lazy(log_[i].first))
      memo_.erase(log_[i].first);
    else
      std::swap(log_[kept++], log_[i]);
  }
  log_.resize(kept);
}

bool Values::must_be_lazy(Expr e) {
  auto is_known = [&](Expr node) { return reads_.count(node) != 0; };
  if (!is_known(e))
    arith::for_each_node(
        e, [&](Expr node) { return arith::operands_except(node, is_known); },
        [&](Expr node) {
          bool reads =
              node->kind == ExprKind::kLoad || (node->kind == ExprKind::kExtern && !arith::is_angle_call(node));
          for (Expr operand : arith::operands(node)) reads |= reads_.at(operand);
          reads_.emplace(node, reads);
        });
  return reads_.at(e);
}

}  // namespace relaxc::codegen_llvm
