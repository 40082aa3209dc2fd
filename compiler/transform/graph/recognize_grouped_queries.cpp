// recognize_grouped_queries.cpp: lets groups of queries share keys and values in attention.
//
// Llama's successors have fewer heads of keys than of queries. Exporters repeat the keys,
//
//   reshape(broadcast_to(k as [b, heads, 1, t, e], [b, heads, group, t, e]), [b, heads * group, t, e])
//
// which copies a cache several times over in every step. Queries as [b, heads, group, s, e] can use the keys as they
// are: products broadcast over leading dims, and the views cost nothing.
//
// recognize_attention and its clean-ups come before, so that a repeat is next to the operator that reads it.
#include <algorithm>

#include "compiler/transform/graph/moves/move_rules.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

bool is_view(const Op* op) {
  return op != nullptr && op->kind == OpKind::kOperator && op->def->role == Role::kView;
}

/// Returns `x` [b, heads * group, t, e] before its heads were repeated, as [b, heads, 1, t, e]; null if they were not.
Value* before_repeat(const Site& s, Value* x) {
  if (x->shape().size() != 4) return nullptr;
  if (Op* permute = producer_of(x, "permute_dims")) {
    bool within = permutation(*permute) == std::vector<int64_t>{0, 1, 3, 2};
    Value* below = within ? before_repeat(s, permute->operand(0)) : nullptr;
    return below == nullptr ? nullptr
                            : s.make("permute_dims", {below}, {{"axes", std::vector<int64_t>{0, 1, 2, 4, 3}}});
  }
  if (Op* repeat = producer_of(x, "repeat")) {
    const Value& below = *repeat->operand(0);
    int64_t axis = repeat->attrs.integer("axis");
    if (axis != 1 && axis != -3) return nullptr;
    std::vector<Expr> dims = below.shape();
    dims.insert(dims.begin() + 2, s.builder.context().index(1));
    return s.make("reshape", {repeat->operand(0), s.builder.shape(dims)});
  }
  Value* spread = is_view(x->op) ? x->op->operand(0) : nullptr;
  Op* op = producer_of(spread, "broadcast_to");
  if (op == nullptr) op = producer_of(spread, "tile");
  if (op == nullptr || !op->requirements.empty()) return nullptr;
  Value* below = op->operand(0);
  const auto &from = below->shape(), &to = spread->shape(), &all = x->shape();
  if (from.size() != 5 || to.size() != 5 || !from[2].is_constant(1)) return nullptr;
  auto equal = [&](Expr a, Expr b) { return arith::prove_equal(a, b, s.facts); };
  for (size_t i : {0, 1, 3, 4})
    if (!equal(from[i], to[i])) return nullptr;
  bool joins = equal(all[0], to[0]) && equal(all[1], to[1] * to[2]) && equal(all[2], to[3]) && equal(all[3], to[4]);
  return joins ? below : nullptr;
}

/// Returns an operand that broadcasts to scores [b, heads * group, s, t] in a shape that broadcasts to [b, heads,
/// group, s, t]; null if it has another number of heads.
Value* by_groups(const Site& s, Value* operand, Expr heads, Expr group) {
  std::vector<Expr> dims = operand->shape();
  if (dims.size() < 3) return operand;
  size_t at = dims.size() - 3;
  if (dims[at].is_constant(1)) {
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at), dims[at]);
  } else {
    if (!arith::prove_equal(dims[at], heads * group, s.facts)) return nullptr;
    dims[at] = group;
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at), heads);
  }
  return s.make("reshape", {operand, s.builder.shape(dims)});
}

/// Replaces attention with keys and values repeated for groups of heads by attention in which a group shares a head.
Value* group_queries(const Site& s) {
  if (!s.op.is("nn.scaled_dot_product_attention") || s.out()->shape().size() != 4) return nullptr;
  Value *q = s.in(0), *k = before_repeat(s, s.in(1)), *v = before_repeat(s, s.in(2));
  if (k == nullptr || v == nullptr || q->shape().size() != 4) return nullptr;
  auto equal = [&](Expr a, Expr b) { return arith::prove_equal(a, b, s.facts); };
  Expr heads = k->shape()[1], all = q->shape()[1];
  Expr group = arith::simplify(arith::floordiv(all, heads), s.facts);
  bool divides = equal(v->shape()[1], heads) && equal(heads * group, all) && equal(s.in(1)->shape()[1], all);
  if (!divides) return nullptr;
  std::vector<Value*> operands{q, k, v};
  for (size_t i = 3; i < s.op.operands().size(); ++i) {
    Value* beside = s.in(i) == nullptr ? nullptr : by_groups(s, s.in(i), heads, group);
    if (beside == nullptr && s.in(i) != nullptr) return nullptr;
    operands.push_back(beside);
  }
  operands[0] = by_groups(s, q, heads, group);
  Value* made = s.make("nn.scaled_dot_product_attention", operands, s.op.attrs);
  made->op->origins = s.op.origins;
  return s.make("reshape", {made, s.builder.shape(s.out()->shape())});
}

/// Does the same for one product where attention is not recognized: what is between its products may be a result.
Value* group_queries_of_product(const Site& s) {
  if (!s.op.is("matmul") || s.in(0)->shape().size() != 4) return nullptr;
  Value* shared = before_repeat(s, s.in(1));
  if (shared == nullptr) return nullptr;
  Expr heads = shared->shape()[1], group = arith::simplify(arith::floordiv(s.in(1)->shape()[1], heads), s.facts);
  if (!arith::prove_equal(heads * group, s.in(0)->shape()[1], s.facts)) return nullptr;
  Value* made = s.make("matmul", {by_groups(s, s.in(0), heads, group), shared}, s.op.attrs);
  return s.make("reshape", {made, s.builder.shape(s.out()->shape())});
}

constexpr Rule kGroupRules[] = {group_queries, group_queries_of_product};

}  // namespace

Result<Changed> recognize_grouped_queries(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) changed |= rewrite_ops(module, *function, context, kGroupRules);
  return changed;
}

}  // namespace relaxc
