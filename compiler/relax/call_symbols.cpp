// call_symbols.cpp: matches the dims of a call with the dims of its callee.
#include "compiler/relax/call_symbols.h"

#include <algorithm>
#include <set>

#include "compiler/arith/visit.h"

namespace relaxc::relax {

using arith::Expr;

std::vector<const Value*> placed_operands(const Op& call) {
  std::vector<const Value*> list(call.operands().begin(), call.operands().end());
  if (call.kind != OpKind::kCallInplace) return list;
  const std::vector<int64_t>& indices = call.attrs.ints("inplace_indices");
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i] >= 0) list[static_cast<size_t>(indices[i])] = call.results[i];
  return list;
}

std::vector<Value*> fresh_results(const Op& call) {
  if (call.kind != OpKind::kCallInplace) return call.results;
  std::vector<Value*> list;
  const std::vector<int64_t>& indices = call.attrs.ints("inplace_indices");
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i] < 0) list.push_back(call.results[i]);
  return list;
}

std::vector<const Value*> tensors_known_before(const Op& call) {
  std::vector<const Value*> tensors = placed_operands(call);
  std::erase_if(tensors, [](const Value* value) { return value->info->as<TensorInfo>() == nullptr; });
  const std::vector<Value*> results = fresh_results(call);
  if (call.binds.empty()) tensors.insert(tensors.end(), results.begin(), results.end());
  return tensors;
}

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

void solve_symbols(const tir::PrimFunc& callee, const std::vector<std::vector<Expr>>& dims,
                   arith::Substitution& found) {
  std::vector<tir::BufferRef> buffers;
  for (const tir::Param& param : callee.params)
    if (param.buffer != nullptr && buffers.size() < dims.size()) buffers.push_back(param.buffer);
  for (size_t i = 0; i < buffers.size(); ++i) solve_bare(buffers[i]->shape, dims[i], found);
  for (size_t i = 0; i < buffers.size(); ++i)
    for (size_t axis = 0; axis < buffers[i]->shape.size() && axis < dims[i].size(); ++axis)
      unify(buffers[i]->shape[axis], dims[i][axis], callee.symbols, found);
}

}  // namespace relaxc::relax
