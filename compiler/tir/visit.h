// visit.h: exhaustive visits and rebuilding of statements.
#pragma once

#include <functional>

#include "compiler/arith/visit.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::tir {

/// Calls the one of `fs` that takes the statement's kind; does not compile unless every kind is handled.
template <typename... Fs>
decltype(auto) visit(Stmt s, Fs&&... fs) {
  arith::Overloaded visitor{std::forward<Fs>(fs)...};
  switch (s->kind) {
#define X(name)           \
  case StmtKind::k##name: \
    return visitor(static_cast<const name&>(*s.node()));
    RELAXC_STMT_KINDS(X)
#undef X
  }
  RELAXC_UNREACHABLE();
}

/// Returns the statements directly inside of `s`, in order of execution (a block's init before its body).
std::vector<Stmt> children(Stmt s);
/// Returns the expressions directly in `s` (not those of its children): extents, subscripts, values, bindings,
/// predicates, offsets, arguments.
std::vector<Expr> expressions(Stmt s);

/// Rebuilds a tree: `on_expr` maps every expression; `on_stmt` receives every statement after its children were rebuilt
/// and returns the replacement (null removes it). Loops and blocks keep their ids. Each function may be empty.
struct Rewriter {
  std::function<Expr(Expr)> on_expr;
  std::function<Stmt(Stmt)> on_stmt;
  std::function<BufferRef(BufferRef)> on_buffer;
};
Stmt rewrite(Context& context, Stmt s, const Rewriter& rewriter);

/// Replaces variables in all expressions of `s`; the variables that statements bind stay.
Stmt substitute(Context& context, Stmt s, const arith::Substitution& replacements);

/// Calls `f` for every statement, parents before children.
void for_each_stmt(Stmt s, const std::function<void(Stmt)>& f);

/// Returns whether `s` contains a guard.
bool has_guards(Stmt s);

}  // namespace relaxc::tir
