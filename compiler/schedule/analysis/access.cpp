// access.cpp: see access.h.
#include "compiler/schedule/analysis/access.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/analysis/pattern.h"
#include "compiler/arith/walks.h"

namespace relaxc::schedule {

using arith::ExprKind;

bool depends_on(Expr e, Expr var) {
  bool found = false;
  arith::for_each_node(e, [&](Expr node) { found |= node == var; });
  return found;
}

bool has_load(Expr e) {
  bool found = false;
  arith::for_each_node(e, [&](Expr node) { found |= node.as<arith::Load>() != nullptr; });
  return found;
}

namespace {

/// How a value changes with each step of a variable: whether it does, and by how much if that is a constant.
struct Moves {
  bool depends = false;
  std::optional<int64_t> step;
};

std::optional<int64_t> sum(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t out = 0;
  return a && b && !__builtin_add_overflow(*a, *b, &out) ? std::optional(out) : std::nullopt;
}
std::optional<int64_t> product(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t out = 0;
  return a && b && !__builtin_mul_overflow(*a, *b, &out) ? std::optional(out) : std::nullopt;
}

std::optional<int64_t> step_of_parts(Expr e, const std::vector<Moves>& parts) {
  if (e.as<arith::Add>() != nullptr) return sum(parts[0].step, parts[1].step);
  if (e.as<arith::Sub>() != nullptr) return sum(parts[0].step, product(parts[1].step, -1));
  if (const auto* mul = e.as<arith::Mul>()) {
    if (const int64_t* factor = mul->b.constant()) return product(parts[0].step, *factor);
    if (const int64_t* factor = mul->a.constant()) return product(parts[1].step, *factor);
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> step_of(Expr e, Expr var) {
  if (e == var) return 1;
  if (e.as<arith::VarNode>() != nullptr || e.constant() != nullptr) return 0;
  return arith::fold<Moves>(e,
                            [&](Expr node, const std::vector<Moves>& parts) {
                              if (node == var) return Moves{true, 1};
                              const bool depends = std::any_of(parts.begin(), parts.end(),
                                                               [](const Moves& part) { return part.depends; });
                              return Moves{depends, depends ? step_of_parts(node, parts) : 0};
                            })
      .step;
}

std::optional<int64_t> step_of(BufferRef buffer, const std::vector<Expr>& indices, Expr var) {
  std::optional<int64_t> total = 0, scale = 1;
  for (size_t i = indices.size(); i-- > 0;) {
    auto step = step_of(indices[i], var);
    if (!step) return std::nullopt;
    if (!buffer->strides.empty()) {
      const int64_t* stride = buffer->strides[i].constant();
      scale = stride != nullptr ? std::optional(*stride) : std::nullopt;
    }
    if (*step != 0) {
      total = sum(total, product(step, scale));
      if (!total) return std::nullopt;
    }
    const int64_t* dim = buffer->shape[i].constant();
    scale = dim != nullptr ? product(scale, *dim) : std::nullopt;
  }
  return total;
}

std::vector<Stmt> statements_of(Stmt s) {
  while (true) {
    if (const auto* alloc = s.as<tir::Alloc>())
      s = alloc->body;
    else if (const auto* let = s.as<tir::Let>())
      s = let->body;
    else if (const auto* view = s.as<tir::View>())
      s = view->body;
    else
      return s.as<tir::Seq>() != nullptr ? s.as<tir::Seq>()->body : std::vector<Stmt>{s};
  }
}

Stmt nest_around(Stmt root, uint32_t block) {
  Stmt found;
  tir::for_each_stmt(root, [&](Stmt s) {
    const tir::Block* inner = found ? nullptr : analysis::as_nest(s).block;
    if (inner != nullptr && inner->id == block) found = s;
  });
  return found;
}

arith::Substitution bindings(const tir::Block& block) {
  arith::Substitution map;
  for (const tir::IterVar& iter : block.iters) map[iter.var] = iter.binding;
  return map;
}

void for_each_access(Stmt root, const std::function<void(const Access&)>& f) {
  tir::for_each_stmt(root, [&](Stmt s) {
    if (const auto* store = s.as<tir::Store>()) f({store->buffer, store->indices, true});
    for (Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](Expr node) {
        if (const auto* load = node.as<arith::Load>()) f({load->buffer, load->indices, false});
      });
  });
}

namespace {

/// Whether the subscripts by the two variables are adjacent, so that their dims can become one.
bool fusible(const Access& access, const tir::For& outer, const tir::For& inner) {
  bool uses = false;
  for (Expr index : access.indices) uses |= depends_on(index, outer.var) || depends_on(index, inner.var);
  if (!uses) return true;
  std::optional<size_t> at = fused_place(access.indices, outer.var, inner.var);
  if (!at || !access.buffer->strides.empty()) return false;
  return arith::prove_equal(access.buffer->shape[*at + 1], inner.extent);
}

/// Whether one of the variables occurs in `e` outside of the subscripts of loads.
bool occurs_outside_loads(Expr e, Expr a, Expr b) {
  std::vector<Expr> pending{e};
  std::unordered_set<Expr> seen;
  while (!pending.empty()) {
    Expr node = pending.back();
    pending.pop_back();
    if (node == a || node == b) return true;
    if (node->kind == ExprKind::kLoad || !seen.insert(node).second) continue;
    for (Expr operand : arith::operands(node)) pending.push_back(operand);
  }
  return false;
}

}  // namespace

std::optional<size_t> fused_place(const std::vector<Expr>& indices, Expr outer, Expr inner) {
  for (size_t i = 0; i + 1 < indices.size(); ++i) {
    if (step_of(indices[i], outer) != 1 || depends_on(indices[i], inner)) continue;
    if (step_of(indices[i + 1], inner) != 1 || depends_on(indices[i + 1], outer)) continue;
    for (size_t j = 0; j < indices.size(); ++j)
      if (j != i && j != i + 1 && (depends_on(indices[j], outer) || depends_on(indices[j], inner))) return {};
    return i;
  }
  return {};
}

bool can_fuse(const tir::For& outer, const tir::For& inner, bool in_conditions) {
  if (!(outer.body == Stmt(&inner)) || !outer.min.is_constant(0) || !inner.min.is_constant(0)) return false;
  if (depends_on(inner.extent, outer.var)) return false;
  bool fits = true;
  for_each_access(inner.body, [&](const Access& access) { fits &= fusible(access, outer, inner); });
  // Outside of subscripts that become one, the variables must not occur.
  tir::for_each_stmt(inner.body, [&](Stmt s) {
    if (in_conditions && s.as<tir::If>() != nullptr) return;
    const auto* store = s.as<tir::Store>();
    if (store != nullptr)
      fits &= !occurs_outside_loads(store->value, outer.var, inner.var);
    else
      for (Expr e : tir::expressions(s)) fits &= !occurs_outside_loads(e, outer.var, inner.var);
    if (const auto* block = s.as<tir::Block>()) fits &= block->iters.empty() && !block->predicate;
    fits &= s->kind != tir::StmtKind::kIf && s->kind != tir::StmtKind::kLet && s->kind != tir::StmtKind::kGuard &&
            s->kind != tir::StmtKind::kInvoke && s->kind != tir::StmtKind::kView && s->kind != tir::StmtKind::kWhile;
  });
  return fits;
}

Update update_of(const tir::Store& store) {
  auto is_own = [&](Expr e) {
    const auto* load = e.as<arith::Load>();
    return load != nullptr && load->buffer == store.buffer && load->indices == store.indices;
  };
  ExprKind kind = store.value->kind;
  if (kind != ExprKind::kAdd && kind != ExprKind::kMul && kind != ExprKind::kMin && kind != ExprKind::kMax) return {};
  const auto& both = static_cast<const arith::Binary&>(*store.value.node());
  Update update{kind, both.a, both.b};
  if (!is_own(update.own)) std::swap(update.own, update.value);
  if (!is_own(update.own)) return {};
  bool again = false;
  arith::for_each_node(update.value, [&](Expr node) {
    if (const auto* load = node.as<arith::Load>()) again |= load->buffer == store.buffer;
  });
  return again ? Update{} : update;
}

const arith::Mul* fusible_product(const Update& update) {
  const auto* product = update.value ? update.value.as<arith::Mul>() : nullptr;
  bool wide = product != nullptr && update.value.dtype().is_float() && update.value.dtype().bits >= 32;
  return wide && update.kind == arith::ExprKind::kAdd ? product : nullptr;
}

bool is_neutral(ExprKind kind, Expr init) {
  if (kind == ExprKind::kMin || kind == ExprKind::kMax) return true;  // idempotent
  double wanted = kind == ExprKind::kMul ? 1 : 0;
  if (const auto* number = init.as<arith::FloatImm>()) return number->value == wanted;
  return init.is_constant(static_cast<int64_t>(wanted));
}

}  // namespace relaxc::schedule
