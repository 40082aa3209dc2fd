// symbols.cpp: names and upper bounds of symbols.
#include "compiler/transform/lower/symbols.h"

#include <algorithm>

#include "compiler/arith/walks.h"

namespace relaxc::lower {

std::vector<Expr> replace(std::vector<Expr> list, const arith::Substitution& by) {
  for (Expr& e : list)
    if (e) e = arith::substitute(e, by);
  return list;
}

void Symbols::add_entry(Var var) {
  entry_.push_back(var);
  is_entry_.insert(var);
  of_entry_.clear();
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
  // Regions copy all facts, hence a limit. A guard whose condition is not assumed may be emitted twice.
  constexpr size_t kMost = 1024;
  if (facts_.assumptions().size() < kMost) facts_.assume(condition);
  if (!at_entry || entry_facts_.assumptions().size() >= kMost) return;
  entry_facts_.assume(condition);
  entry_prover_.reset();
}

Symbols::Scope::Scope(Symbols& symbols, bool forget)
    : symbols_(symbols),
      forget_(forget),
      facts_(symbols.facts_),
      known_(symbols.known_.replacements()),
      data_(symbols.data_.size()) {}

Symbols::Scope::~Scope() {
  auto& data = symbols_.data_;
  if (forget_) {
    for (size_t i = data_; i < data.size(); ++i) symbols_.place_.erase(data[i].first);
    data.resize(data_);
    symbols_.known_ = arith::Substituter(std::move(known_));
  }
  for (size_t i = data_; i < data.size(); ++i) facts_.bound(data[i].first, symbols_.facts_.range_of(data[i].first));
  symbols_.facts_ = std::move(facts_);
  symbols_.answers_.clear();
  symbols_.bound_of_.clear();
  symbols_.compared_ = 0;
}

bool Symbols::proves(Expr condition, bool at_entry) const {
  if (!at_entry) return arith::prove(condition, facts_);  // these facts change too often for a Prover
  if (entry_prover_ == nullptr) entry_prover_ = std::make_shared<arith::Prover>(condition.context(), entry_facts_);
  return entry_prover_->decide(condition) == arith::Truth::kTrue;
}

void Symbols::add_data(Var var, Expr bound, bool is_size) {
  if (!var.dtype().is_index()) {
    keep(var, {});
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
  keep(var, bound);
}

void Symbols::keep(Var var, Expr bound) {
  place_[var] = data_.size();
  data_.emplace_back(var, bound);
}

std::vector<Expr> Symbols::known(std::vector<Expr> list) const {
  for (Expr& e : list) e = known(e);
  return list;
}

bool Symbols::in_scope(Var var) const {
  return known_.replaces(var) || is_entry_.count(var) != 0 || place_.count(var) != 0;
}

bool Symbols::of_entry(Expr e) const {
  if (auto known = of_entry_.find(e); known != of_entry_.end()) return known->second;
  auto unknown = [&](Expr node) {
    return arith::operands_except(node, [&](Expr operand) { return of_entry_.count(operand) != 0; });
  };
  arith::for_each_node(e, unknown, [&](Expr node) {
    const std::vector<Expr> parts = arith::operands(node);
    const bool plain =
        node.as<arith::Load>() == nullptr && (node.as<arith::VarNode>() == nullptr || is_entry_.count(node) != 0);
    of_entry_[node] = plain && std::all_of(parts.begin(), parts.end(), [&](Expr part) { return of_entry_.at(part); });
  });
  return of_entry_.at(e);
}

bool Symbols::of_entry(const std::vector<Expr>& list) const {
  return std::all_of(list.begin(), list.end(), [&](Expr e) { return of_entry(e); });
}

/// Returns whether `e` never falls when `var` rises. Each node is visited once, operands first: sizes share parts.
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

/// Returns the bound of `e`, in entry symbols, that an assumption states about the same expression, as a guard does
/// that compares a product of dims with them (a reshape by data); null if there is none.
Expr Symbols::compared_with_entry(Expr e) const {
  auto keep = [&](Expr side, Expr other) {
    if (!of_entry(side) && of_entry(other)) bound_of_.try_emplace(arith::simplify(side), other);
  };
  for (; compared_ < facts_.assumptions().size(); ++compared_) {
    Expr assumed = facts_.assumptions()[compared_];
    bool equal = assumed->kind == arith::ExprKind::kEq;
    if (!equal && assumed->kind != arith::ExprKind::kLe) continue;
    const auto& sides = *static_cast<const arith::Binary*>(assumed.node());
    if (!sides.a.dtype().is_index()) continue;
    keep(sides.a, sides.b);
    if (equal) keep(sides.b, sides.a);
  }
  if (bound_of_.empty()) return {};
  auto found = bound_of_.find(arith::simplify(e));
  return found == bound_of_.end() ? Expr() : found->second;
}

/// Returns the index of the data symbol in `e` that was bound last, among those before `end`.
std::optional<size_t> Symbols::latest_data(Expr e, size_t end) const {
  std::optional<size_t> latest;
  for (Var var : arith::free_vars(e)) {
    auto place = place_.find(var);
    if (place != place_.end() && place->second < end && (!latest || *latest < place->second)) latest = place->second;
  }
  return latest;
}

/// Returns what `bounded` reads of each variable of `e`: its range, the latest assumption, the index of its bound.
std::vector<int64_t> Symbols::variable_facts(Expr e) const {
  std::vector<int64_t> all;
  for (Var var : arith::free_vars(e)) {
    arith::Range range = facts_.range_of(var);
    std::vector<size_t> assumptions = facts_.assumptions_of(var);
    auto place = place_.find(var);
    all.insert(all.end(), {range.lower, range.upper, assumptions.empty() ? -1 : static_cast<int64_t>(assumptions[0]),
                           place == place_.end() ? -1 : static_cast<int64_t>(place->second)});
  }
  return all;
}

/// Caches answers: layers with data-dependent sizes ask for the bound of the same size hundreds of times. An answer is
/// valid until a fact about one of its variables is added; facts about others leave it true.
Expr Symbols::bounded(Expr e) const {
  e = known(e);
  if (!e.dtype().is_index()) return {};
  if (of_entry(e)) return e;
  std::vector<int64_t> known_now = variable_facts(e);
  auto found = answers_.find(e);
  if (found != answers_.end() && found->second.known == known_now) return found->second.bound;
  Expr bound = find_bound(e);
  answers_.insert_or_assign(e, Answer{std::move(known_now), bound});
  return bound;
}

Expr Symbols::find_bound(Expr e) const {
  if (Expr bound = compared_with_entry(e)) return bound;
  for (auto place = latest_data(e, data_.size()); place; place = latest_data(e, *place)) {
    auto [var, bound] = data_[*place];
    if (!var.dtype().is_index()) return {};
    // A later guard may give a tighter bound than was known when the symbol got its value.
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
