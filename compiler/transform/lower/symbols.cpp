// symbols.cpp: aliases and bounds of symbols.
#include "compiler/transform/lower/symbols.h"

#include <algorithm>

namespace relaxc::lower {

void Symbols::declare(Var var, arith::Range range) {
  facts_.bound(var, range);
  entry_facts_.bound(var, range);
}

void Symbols::assume(Expr condition, bool at_entry) {
  bool loads = false;
  arith::for_each_node(condition, [&](Expr node) { loads |= node.as<arith::Load>() != nullptr; });
  if (loads) return;
  facts_.assume(condition);
  if (at_entry) entry_facts_.assume(condition);
}

void Symbols::leave(Mark before) {
  for (size_t i = before.data; i < data_.size(); ++i)
    before.facts.bound(data_[i].first, facts_.range_of(data_[i].first));
  facts_ = std::move(before.facts);
}

void Symbols::add_data(Var var, Expr bound, bool is_size) {
  if (!var.dtype().is_index()) {
    data_.emplace_back(var, Expr());
    return;
  }
  if (is_size) facts_.bound(var, arith::Range::at_least(0));
  arith::Range range = facts_.range_of(var);
  if (range.has_upper()) {
    Expr declared = var.context().index(range.upper);
    bound = bound ? arith::min(bound, declared) : declared;
  }
  bound = bound ? bounded(bound) : bound;
  if (bound && bound.constant() != nullptr) facts_.bound(var, {INT64_MIN, *bound.constant()});
  data_.emplace_back(var, bound);
}

std::vector<Expr> Symbols::known(std::vector<Expr> list) const {
  for (Expr& e : list) e = known(e);
  return list;
}

bool Symbols::in_scope(Var var) const {
  auto is_data = [&](const auto& data) { return data.first == var; };
  return known_.count(var) != 0 || std::find(entry_.begin(), entry_.end(), var) != entry_.end() ||
         std::any_of(data_.begin(), data_.end(), is_data);
}

bool Symbols::of_entry(Expr e) const {
  bool plain = true;
  arith::for_each_node(e, [&](Expr node) {
    if (node.as<arith::Load>() != nullptr) plain = false;
    if (node.as<arith::VarNode>() != nullptr) plain &= std::find(entry_.begin(), entry_.end(), node) != entry_.end();
  });
  return plain;
}

bool Symbols::of_entry(const std::vector<Expr>& list) const {
  return std::all_of(list.begin(), list.end(), [&](Expr e) { return of_entry(e); });
}

bool Symbols::grows_with(Expr e, Expr var) const {
  std::vector<Var> vars = arith::free_vars(e);
  if (std::find(vars.begin(), vars.end(), var) == vars.end() || e == var) return true;
  auto both = [&](const arith::Binary& o) { return grows_with(o.a, var) && grows_with(o.b, var); };
  auto positive = [&](Expr part) { return arith::bounds(part, facts_).lower >= 0; };
  switch (e->kind) {
    case arith::ExprKind::kAdd:
    case arith::ExprKind::kMin:
    case arith::ExprKind::kMax:
      return both(*static_cast<const arith::Binary*>(e.node()));
    case arith::ExprKind::kMul: {
      const auto& product = *static_cast<const arith::Binary*>(e.node());
      return both(product) && positive(product.a) && positive(product.b);
    }
    case arith::ExprKind::kSub: {
      const auto& difference = *static_cast<const arith::Binary*>(e.node());
      return difference.b.constant() != nullptr && grows_with(difference.a, var);
    }
    case arith::ExprKind::kFloorDiv: {
      const auto& quotient = *static_cast<const arith::Binary*>(e.node());
      return quotient.b.constant() != nullptr && *quotient.b.constant() > 0 && grows_with(quotient.a, var);
    }
    default:
      return false;
  }
}

Expr Symbols::bounded(Expr e) const {
  e = known(e);
  for (auto data = data_.rbegin(); data != data_.rend(); ++data) {
    const auto& [var, bound] = *data;
    std::vector<Var> vars = arith::free_vars(e);
    if (std::find(vars.begin(), vars.end(), var) == vars.end()) continue;
    if (bound && grows_with(e, var)) {
      e = arith::substitute(e, {{var, bound}});
      continue;
    }
    std::optional<Expr> without = arith::upper_bound_without(e, {var}, facts_);
    if (!without) return {};
    e = *without;
  }
  return of_entry(e) ? e : Expr();
}

}  // namespace relaxc::lower
