// call_symbols.cpp: matches the dims of a call with the dims of its callee.
#include "compiler/relax/call_symbols.h"

#include <algorithm>
#include <set>

#include "compiler/arith/visit.h"

namespace relaxc::relax {

using arith::Expr;

void solve_bare(const std::vector<Expr>& formal, const std::vector<Expr>& actual, arith::Substitution& found) {
  for (size_t i = 0; i < formal.size() && i < actual.size(); ++i)
    if (formal[i].as<arith::VarNode>() != nullptr) found.emplace(formal[i], actual[i]);
}

void unify(Expr formal, Expr actual, const std::vector<arith::Var>& symbols, arith::Substitution& found) {
  // Sizes share subexpressions, so each pair is visited once. The first operands are matched first.
  std::set<std::pair<uint32_t, uint32_t>> seen;
  std::vector<std::pair<Expr, Expr>> pending{{formal, actual}};
  while (!pending.empty()) {
    auto [x, y] = pending.back();
    pending.pop_back();
    if (!seen.emplace(x->id, y->id).second) continue;
    if (x.as<arith::VarNode>() != nullptr) {
      if (std::find(symbols.begin(), symbols.end(), x) != symbols.end()) found.emplace(x, y);
      continue;
    }
    std::vector<Expr> a = arith::operands(x), b = arith::operands(y);
    if (x->kind != y->kind || a.size() != b.size()) continue;
    for (size_t i = a.size(); i-- > 0;) pending.emplace_back(a[i], b[i]);
  }
}

}  // namespace relaxc::relax
