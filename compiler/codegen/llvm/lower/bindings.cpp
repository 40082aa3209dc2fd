// bindings.cpp: binds variables, and restores values and facts at the end of a scope.
#include "compiler/codegen/llvm/lower/bindings.h"

#include "compiler/arith/simplify.h"
#include "compiler/arith/visit.h"

namespace relaxc::codegen_llvm {

using arith::Expr;

const Lanes* Bindings::find(Expr var) const {
  auto it = vars_.find(var);
  return it != vars_.end() ? &it->second : nullptr;
}

void Bindings::bind(Expr var, Lanes value) {
  auto [known, is_new] = vars_.emplace(var, value);
  log_.push_back({var, is_new ? std::nullopt : std::optional(known->second), nullptr});
  known->second = value;
}

void Bindings::bind_range(arith::Var var, Expr min, Expr extent, Lanes value) {
  arith::Range first = range_of(min), count = range_of(extent);
  arith::Range range = arith::Range::at_least(first.lower);
  int64_t last = 0;
  if (first.has_upper() && count.has_upper() && !__builtin_add_overflow(first.upper, count.upper - 1, &last))
    range.upper = last;
  bind(var, value);
  log_.back().outside = std::make_unique<arith::Facts>(facts_);
  if (range.upper >= range.lower) facts_.bound(var, range);
  prover_.reset();
}

arith::Range Bindings::range_of(Expr index) {
  if (!prover_) prover_.emplace(index.context(), facts_);
  return prover_->bounds(index);
}

std::optional<Expr> Bindings::simplified(Expr e) {
  if (simplified_.count(e) != 0) return std::nullopt;
  Expr simple = arith::simplify(e, facts_);
  arith::for_each_node(simple, [&](Expr node) { simplified_.insert(node); });
  return simple == e ? std::nullopt : std::optional(simple);
}

void Bindings::undo_since(size_t mark) {
  for (; log_.size() > mark; log_.pop_back()) {
    Change& last = log_.back();
    if (last.before)
      vars_.insert_or_assign(last.var, *last.before);
    else
      vars_.erase(last.var);
    if (last.outside == nullptr) continue;
    facts_ = std::move(*last.outside);
    prover_.reset();
  }
}

}  // namespace relaxc::codegen_llvm
