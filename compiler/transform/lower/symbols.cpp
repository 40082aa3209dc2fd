// symbols.cpp: aliases and bounds of symbols.
#include "compiler/transform/lower/symbols.h"

#include <algorithm>

namespace relaxc::lower {

std::vector<Expr> replace(std::vector<Expr> list, const arith::Substitution& by) {
  for (Expr& e : list)
    if (e) e = arith::substitute(e, by);
  return list;
}

void Symbols::declare(Var var, arith::Range range) {
  facts_.bound(var, range);
  entry_facts_.bound(var, range);
  entry_prover_.reset();
}

void Symbols::assume(Expr condition, bool at_entry) {
  bool loads = false;
  arith::for_each_node(condition, [&](Expr node) { loads |= node.as<arith::Load>() != nullptr; });
  if (loads) return;
  // Each takes time at every question, and `bounded` reads all. A guard that is not assumed may be asked twice.
  constexpr size_t kMost = 256;
  if (facts_.assumptions().size() < kMost) facts_.assume(condition);
  if (!at_entry || entry_facts_.assumptions().size() >= kMost) return;
  entry_facts_.assume(condition);
  entry_prover_.reset();
}

void Symbols::leave(Mark before, bool forget) {
  if (forget) {
    data_.resize(before.data);
    known_ = std::move(before.known);
  }
  for (size_t i = before.data; i < data_.size(); ++i)
    before.facts.bound(data_[i].first, facts_.range_of(data_[i].first));
  facts_ = std::move(before.facts);
}

bool Symbols::proves(Expr condition, bool at_entry) const {
  if (!at_entry) return arith::prove(condition, facts_);  // which change too often for a Prover
  if (entry_prover_ == nullptr) entry_prover_ = std::make_shared<arith::Prover>(condition.context(), entry_facts_);
  return entry_prover_->decide(condition) == arith::Truth::kTrue;
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

/// Whether `e` never falls when `var` rises. Each node is asked once, operands first: sizes share parts.
bool Symbols::grows_with(Expr e, Expr var) const {
  using arith::Binary;
  enum class Way { kConstant, kGrows, kUnknown };
  std::unordered_map<Expr, Way> ways;
  auto positive = [&](Expr part) { return arith::bounds(part, facts_).lower >= 0; };
  auto follows = [&](Expr node) {
    const auto* n = node->kind >= arith::ExprKind::kAdd && node->kind <= arith::ExprKind::kMax
                        ? static_cast<const Binary*>(node.node())
                        : nullptr;
    if (n == nullptr || ways.at(n->a) == Way::kUnknown || ways.at(n->b) == Way::kUnknown) return false;
    bool fixed_right = ways.at(n->b) == Way::kConstant;
    switch (node->kind) {
      case arith::ExprKind::kAdd:
      case arith::ExprKind::kMin:
      case arith::ExprKind::kMax:
        return true;
      case arith::ExprKind::kMul:
        return positive(n->a) && positive(n->b);
      case arith::ExprKind::kSub:
        return fixed_right;
      case arith::ExprKind::kFloorDiv:
        return fixed_right && arith::bounds(n->b, facts_).lower > 0;
      default:
        return false;
    }
  };
  arith::for_each_node(e, [&](Expr node) {
    std::vector<Expr> parts = arith::operands(node);
    bool constant = std::all_of(parts.begin(), parts.end(), [&](Expr p) { return ways.at(p) == Way::kConstant; });
    ways[node] = node == var ? Way::kGrows : constant ? Way::kConstant : follows(node) ? Way::kGrows : Way::kUnknown;
  });
  return ways.at(e) != Way::kUnknown;
}

Expr Symbols::bounded(Expr e) const {
  e = known(e);
  if (!e.dtype().is_index()) return {};
  if (of_entry(e)) return e;
  // A product that a guard has compared with entry symbols (a reshape by data) is bounded by those. Products that are
  // equal whatever the facts are speak of the same variables.
  std::vector<Var> variables = arith::free_vars(e);
  arith::Prover plain(e.context(), arith::Facts());
  auto same = [&](Expr side) {
    if (e == side) return true;
    bool alone =
        e.as<arith::VarNode>() != nullptr || side.as<arith::VarNode>() != nullptr || side.constant() != nullptr;
    return !alone && arith::free_vars(side) == variables && plain.proves_equal(e, side);
  };
  for (Expr assumed : facts_.assumptions()) {
    bool equal = assumed->kind == arith::ExprKind::kEq;
    if (!equal && assumed->kind != arith::ExprKind::kLe) continue;
    const auto& sides = *static_cast<const arith::Binary*>(assumed.node());
    if (same(sides.a) && of_entry(sides.b)) return sides.b;
    if (equal && same(sides.b) && of_entry(sides.a)) return sides.a;
  }
  for (auto data = data_.rbegin(); data != data_.rend(); ++data) {
    auto [var, bound] = *data;
    std::vector<Var> vars = arith::free_vars(e);
    if (std::find(vars.begin(), vars.end(), var) == vars.end()) continue;
    if (!var.dtype().is_index()) return {};
    // A guard since then may have said more than was known when the symbol got its value.
    int64_t most = facts_.range_of(var).upper;
    if (most != INT64_MAX && (!bound || arith::bounds(bound, facts_).upper > most)) bound = var.context().index(most);
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
