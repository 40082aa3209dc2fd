// visit.h: visits, rebuilds and walks expressions.
#pragma once

#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/arith/expr.h"

namespace relaxc::arith {

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

/// Calls the one of `fs` that takes the node's kind; does not compile unless every kind is handled. A lambda over
/// `const Binary&` takes all binary kinds that have no lambda of their own.
template <typename... Fs>
decltype(auto) visit(Expr e, Fs&&... fs) {
  Overloaded visitor{std::forward<Fs>(fs)...};
  switch (e->kind) {
#define X(name)           \
  case ExprKind::k##name: \
    return visitor(static_cast<const name&>(*e.node()));
    case ExprKind::kVar:
      return visitor(static_cast<const VarNode&>(*e.node()));
      RELAXC_EXPR_KINDS_BUT_VAR(X)
#undef X
  }
  RELAXC_UNREACHABLE();
}

/// Returns the operands of an expression, in order.
std::vector<Expr> operands(Expr e);
/// Returns `e` with other operands (the same number); index arithmetic is folded as when built.
Expr with_operands(Expr e, const std::vector<Expr>& operands);

/// Rebuilds `e` bottom-up, each shared node once and without recursion: `rewrite` receives every node after its
/// operands were rewritten and returns the replacement.
Expr rewrite(Expr e, const std::function<Expr(Expr)>& rewrite);

/// Calls `f` once for every distinct node of `e`, operands first.
void for_each_node(Expr e, const std::function<void(Expr)>& f);

using Substitution = std::unordered_map<Expr, Expr>;
/// Replaces variables (or any other nodes) by expressions, all at once.
Expr substitute(Expr e, const Substitution& replacements);

/// Returns the distinct variables of `e` in order of creation.
std::vector<Var> free_vars(Expr e);

}  // namespace relaxc::arith
