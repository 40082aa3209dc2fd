// upper_bound.cpp: bounds of expressions in terms of the remaining variables.
//
// A variable that is eliminated is replaced, term by term, by the end of its range that maximizes the term. Its range
// comes from the facts: a constant, or an assumption `i < n` over remaining variables. Terms must be monotone in it,
// that is, their other factors have a known sign. If they are not, the constant range of the whole term is used.
#include <algorithm>

#include "compiler/arith/canonical.h"
#include "compiler/arith/simplify.h"

namespace relaxc::arith {
namespace {

class Eliminator {
 public:
  Eliminator(Context& context, const std::vector<Var>& gone, const Facts& facts)
      : context_(context), gone_(gone), facts_(facts), canonical_(context, facts, Equalities::kKeep) {}

  /// An upper (lower) bound of `e` that does not mention the variables; nothing if none was found.
  std::optional<Expr> end(Expr e, bool upper, int depth = 0) {
    if (!mentions(e)) return e;
    if (depth > kDeepest || --steps_ < 0) return std::nullopt;
    if (const auto* var = e.as<VarNode>()) return end_of(Var(var), upper, depth);
    Polynomial p = canonical_.division().recombine(canonical_.poly(e));
    bool alone = p.terms.size() == 1 && p.terms.begin()->second == 1 && p.terms.begin()->first.size() == 1;
    if (alone) return end_of_atom(p.terms.begin()->first[0], upper, depth);
    Expr total = context_.index(0);
    for (const auto& [monomial, coefficient] : p.terms) {
      auto term = end_of_term(monomial, coefficient, upper, depth);
      if (!term) return constant_end(p, upper);
      total = total + *term;
    }
    return total;
  }

 private:
  static constexpr int kDeepest = 8;

  bool mentions(Expr root) {
    if (auto known = mentions_.find(root); known != mentions_.end()) return known->second;
    for_each_node(root, [&](Expr e) {
      std::vector<Expr> parts = operands(e);
      mentions_[e] = std::find(gone_.begin(), gone_.end(), e) != gone_.end() ||
                     std::any_of(parts.begin(), parts.end(), [&](Expr part) { return mentions_.at(part); });
    });
    return mentions_.at(root);
  }
  bool at_least(Expr e, int64_t least) { return canonical_.proofs().proves_order(context_.index(0), e, least); }

  std::optional<Expr> constant_end(const Polynomial& p, bool upper) {
    Range values = canonical_.bounds(p);
    if (upper ? !values.has_upper() : !values.has_lower()) return std::nullopt;
    return context_.index(upper ? values.upper : values.lower);
  }

  /// A bound of a variable: by the first assumption `v < x`, `v <= x` or `v == x` that gives one, else from its range.
  std::optional<Expr> end_of(Var var, bool upper, int depth) {
    for (Expr e : facts_.assumptions()) {
      ExprKind kind = e->kind;
      if (kind != ExprKind::kLt && kind != ExprKind::kLe && kind != ExprKind::kEq) continue;
      const auto& n = static_cast<const Binary&>(*e.node());
      bool left = n.a == var, right = n.b == var;
      bool useful = kind == ExprKind::kEq ? left || right : upper ? left : right;
      Expr other = left ? n.b : n.a;
      if (!useful || std::find(gone_.begin(), gone_.end(), other) != gone_.end()) continue;
      int64_t strict = kind != ExprKind::kLt ? 0 : upper ? -1 : 1;
      if (auto bound = end(other, upper, depth + 1)) return *bound + strict;
    }
    return constant_end(Polynomial::atom(var), upper);
  }

  std::optional<Expr> end_of_term(const Monomial& monomial, int64_t coefficient, bool upper, int depth) {
    bool grows = (coefficient > 0) == upper;
    Expr product = context_.index(coefficient);
    std::vector<Expr> changing;
    for (Expr factor : monomial) (mentions(factor) ? changing.push_back(factor) : void(product = product * factor));
    if (changing.empty()) return product;
    // Factors must not be negative, neither before nor after: else a larger factor could make the product smaller.
    for (Expr factor : monomial)
      if (monomial.size() > 1 && canonical_.ranges().range_of_atom(factor).lower < 0) return std::nullopt;
    for (Expr factor : changing) {
      auto bound = end_of_atom(factor, grows, depth + 1);
      if (!bound || (monomial.size() > 1 && !at_least(*bound, 0))) return std::nullopt;
      product = product * *bound;
    }
    return product;
  }

  std::optional<Expr> end_of_atom(Expr atom, bool upper, int depth) {
    if (!mentions(atom)) return atom;
    if (const auto* var = atom.as<VarNode>()) return end_of(Var(var), upper, depth);
    auto both = [&](Expr x, Expr y, ExprKind kind) -> std::optional<Expr> {
      auto a = end(x, upper, depth + 1), b = end(y, upper, depth + 1);
      // One side alone bounds a minimum from above and a maximum from below.
      if (!a && !b) return std::nullopt;
      if (a && b) return context_.binary(kind, *a, *b);
      bool one_is_enough = atom->kind == (upper ? ExprKind::kMin : ExprKind::kMax);
      return one_is_enough ? (a ? a : b) : std::nullopt;
    };
    std::optional<Expr> made;
    if (const auto* n = atom.as<FloorDiv>(); n && !mentions(n->b) && at_least(n->b, 1)) {
      if (auto a = end(n->a, upper, depth + 1)) made = floordiv(*a, n->b);
    } else if (const auto* n = atom.as<Min>()) {
      made = both(n->a, n->b, ExprKind::kMin);
    } else if (const auto* n = atom.as<Max>()) {
      made = both(n->a, n->b, ExprKind::kMax);
    } else if (const auto* n = atom.as<Select>()) {
      made = both(n->then_value, n->else_value, upper ? ExprKind::kMax : ExprKind::kMin);
    }
    return made ? made : constant_end(Polynomial::atom(atom), upper);
  }

  Context& context_;
  const std::vector<Var>& gone_;
  const Facts& facts_;
  Canonical canonical_;
  std::unordered_map<Expr, bool> mentions_;
  int steps_ = 2000;  ///< limits the work: terms times depth would be a tree
};

}  // namespace

std::optional<Expr> upper_bound_without(Expr e, const std::vector<Var>& gone, const Facts& facts) {
  auto bound = Eliminator(e.context(), gone, facts).end(e, true);
  return bound ? std::optional(simplify(*bound, facts)) : std::nullopt;
}

}  // namespace relaxc::arith
