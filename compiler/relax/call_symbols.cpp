// call_symbols.cpp: dims of a call beside dims of its callee.
#include "compiler/relax/call_symbols.h"

#include <algorithm>

#include "compiler/arith/visit.h"

namespace relaxc::relax {

using arith::Expr;

void solve_bare(const std::vector<Expr>& formal, const std::vector<Expr>& actual, arith::Substitution& found) {
  for (size_t i = 0; i < formal.size() && i < actual.size(); ++i)
    if (formal[i].as<arith::VarNode>() != nullptr) found.emplace(formal[i], actual[i]);
}

void unify(Expr formal, Expr actual, const std::vector<arith::Var>& symbols, arith::Substitution& found) {
  if (formal.as<arith::VarNode>() != nullptr) {
    if (std::find(symbols.begin(), symbols.end(), formal) != symbols.end()) found.emplace(formal, actual);
    return;
  }
  std::vector<Expr> a = arith::operands(formal), b = arith::operands(actual);
  if (formal->kind != actual->kind || a.size() != b.size()) return;
  for (size_t i = 0; i < a.size(); ++i) unify(a[i], b[i], symbols, found);
}

}  // namespace relaxc::relax
