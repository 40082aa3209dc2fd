// facts.cpp: turns simple conditions into bounds and congruences, and stores the others for the
// provers.
//
// A condition is put in canonical form first, so that `n * 2 <= 10` and `10 >= n + n` both become n <= 5. A condition
// that earlier facts refute is a conflict, whose text is kept until the caller that knows the location asks for it.
#include "compiler/arith/facts.h"

#include <fmt/format.h>

#include <unordered_set>

#include "compiler/arith/canonical.h"
#include "compiler/arith/congruence.h"
#include "compiler/arith/range.h"
#include "compiler/arith/simplify.h"
#include "compiler/arith/visit.h"

namespace relaxc::arith {
namespace {

std::string described(Range range, Congruence congruence) {
  std::string text;
  auto say = [&](std::string part) { text += (text.empty() ? "" : " and ") + part; };
  if (range.has_lower()) say(fmt::format("at least {}", range.lower));
  if (range.has_upper()) say(fmt::format("at most {}", range.upper));
  if (congruence.modulus > 1 && congruence.remainder == 0) say(fmt::format("a multiple of {}", congruence.modulus));
  if (congruence.remainder != 0) say(fmt::format("{} modulo {}", congruence.remainder, congruence.modulus));
  return text;
}

}  // namespace

void Facts::learn(Var var, Known news) {
  auto found = vars_.find(var);
  Known known = found == vars_.end() ? Known() : found->second.known;
  Range range = intersect(known.range, news.range);
  std::optional<Congruence> both = intersect(known.congruence, news.congruence);
  Range members = both ? tighten(range, *both) : range;
  if (both && members.lower <= members.upper) {
    bool is_new = range != known.range || *both != known.congruence;
    vars_[var].known = {range, *both}, revision_ += is_new ? 1 : 0;
  } else if (conflict_.empty()) {
    conflict_ = fmt::format("'{}' is {}", var.name(), described(range, both ? *both : known.congruence));
    if (!both) conflict_ += " and " + described(Range(), news.congruence);
  }
}

void Facts::bound(Var var, Range range) {
  learn(var, {range, {}});
}

void Facts::congruent(Var var, Congruence known) {
  RELAXC_CHECK(known.modulus > 0, "a congruence modulo 0");
  int64_t remainder = known.remainder % known.modulus;
  learn(var, {{}, {known.modulus, remainder < 0 ? remainder + known.modulus : remainder}});
}

void Facts::assume(Expr condition) {
  std::vector<Expr> parts = {condition};
  std::unordered_set<Expr> seen;
  while (!parts.empty()) {
    Expr part = parts.back();
    parts.pop_back();
    if (!seen.insert(part).second) continue;
    if (const auto* both = part.as<And>()) {
      parts.push_back(both->b);
      parts.push_back(both->a);
      continue;
    }
    Expr known = simplify(part, *this);
    if (known.is_constant(0) && conflict_.empty()) conflict_ = fmt::format("{} does not hold", to_string(part));
    if (known.constant() != nullptr) continue;
    bool compares = known->kind >= ExprKind::kEq && known->kind <= ExprKind::kLe;
    const auto* n = compares ? static_cast<const Binary*>(known.node()) : nullptr;
    if (known.as<And>() != nullptr)
      parts.push_back(known);
    else if (n == nullptr || !n->a.dtype().is_index() || !learn_comparison(n->kind, n->a, n->b))
      keep(known);
  }
}

void Facts::keep(Expr assumption) {
  ++revision_;
  first_variable_.push_back(variables_.size());
  for (Var var : free_vars(assumption)) {
    size_t& latest = vars_[var].mentions;
    variables_.push_back(var);
    mentions_.push_back({assumptions_.size(), latest});
    latest = variables_.size();
  }
  assumptions_.push_back(assumption);
}

std::span<const Var> Facts::variables_of(size_t place) const {
  size_t first = first_variable_[place];
  size_t end = place + 1 < first_variable_.size() ? first_variable_[place + 1] : variables_.size();
  return {variables_.data() + first, end - first};
}

std::vector<size_t> Facts::assumptions_of(Expr var) const {
  std::vector<size_t> places;
  auto found = vars_.find(var);
  for (size_t at = found == vars_.end() ? 0 : found->second.mentions; at != 0; at = mentions_[at - 1].earlier)
    places.push_back(mentions_[at - 1].assumption);
  return places;
}

/// Learns from a canonical comparison. True if it was about one variable, and the facts now say all that it does.
bool Facts::learn_comparison(ExprKind kind, Expr a, Expr b) {
  const int64_t *low = a.constant(), *high = b.constant();
  const auto *left = a.as<VarNode>(), *right = b.as<VarNode>();
  if (kind == ExprKind::kEq) {
    if (high == nullptr) std::swap(low, high), std::swap(a, b), std::swap(left, right);
    if (high == nullptr) return false;
    if (left != nullptr) return bound(Var(left), Range::exactly(*high)), true;
    const auto* mod = a.as<FloorMod>();
    const auto* var = mod == nullptr ? nullptr : mod->a.as<VarNode>();
    const int64_t* modulus = mod == nullptr ? nullptr : mod->b.constant();
    if (var == nullptr || modulus == nullptr || *modulus <= 0) return false;
    congruent(Var(var), {*modulus, *high});
    return *high == 0;  // a symbol's record has no other remainders, so they stay conditions
  }
  if (kind == ExprKind::kNe && left != nullptr && high != nullptr && range_of(a).lower == *high && *high < INT64_MAX)
    return bound(Var(left), Range::at_least(*high + 1)), true;
  int64_t strict = kind == ExprKind::kLt ? 1 : 0;
  if (kind != ExprKind::kLt && kind != ExprKind::kLe) return false;
  if (left != nullptr && high != nullptr && *high > INT64_MIN)
    return bound(Var(left), {INT64_MIN, *high - strict}), true;
  if (right != nullptr && low != nullptr && *low < INT64_MAX)
    return bound(Var(right), Range::at_least(*low + strict)), true;
  return false;
}

Range Facts::range_of(Expr var) const {
  auto found = vars_.find(var);
  return found == vars_.end() ? Range() : found->second.known.range;
}

Congruence Facts::congruence_of(Expr var) const {
  auto found = vars_.find(var);
  return found == vars_.end() ? Congruence() : found->second.known.congruence;
}

int64_t Facts::multiple_of(Expr var) const {
  return divisor(congruence_of(var));
}

}  // namespace relaxc::arith
