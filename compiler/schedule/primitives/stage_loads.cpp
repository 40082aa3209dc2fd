// stage_loads.cpp: see stage_loads.h.
#include "compiler/schedule/primitives/stage_loads.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/arith/walks.h"
#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::Block;

namespace {

bool is_number(Expr e) {
  return e.constant() != nullptr || e.as<arith::FloatImm>() != nullptr;
}
bool is_scalar_of(Expr e, BufferRef own) {
  const auto* load = e.as<arith::Load>();
  return load != nullptr && load->indices.empty() && load->buffer != own;
}

/// The nodes of a value that are staged in locals, outermost first. It does not look inside of these, nor at loads
/// under conditions, which may be outside of their buffer when the condition does not hold.
std::vector<Expr> find_staged(Expr value, BufferRef own, Var var) {
  std::vector<Expr> found;
  arith::for_each_reached(value, [&](Expr e) {
    const auto* select = e.as<arith::Select>();
    const auto* load = e.as<arith::Load>();
    bool guarded = select != nullptr && (is_number(select->else_value) || is_scalar_of(select->else_value, own)) &&
                   has_load(select->then_value) && !has_load(select->condition);
    bool plain = var && load != nullptr && load->buffer != own &&
                 std::any_of(load->indices.begin(), load->indices.end(), [&](Expr i) { return depends_on(i, var); });
    if (guarded || plain) found.push_back(e);
    return guarded || plain || e.dtype().is_index() ? std::vector<Expr>{} : arith::eager_operands(e);
  });
  return found;
}

}  // namespace

Legal<StageLoads::Facts> StageLoads::legal(const Tree& tree) const {
  const Var var = loop == 0 ? Var() : tree.loop(loop).var;
  const auto* store = tree.block(block).body.as<tir::Store>();
  RELAXC_REQUIRE(store != nullptr && !tree.block(block).init,
                 fmt::format("block '{}' is not one store", block_name(tree, block)));
  return find_staged(store->value, store->buffer, var);
}

StageLoads::Made StageLoads::apply(Tree& tree, const Facts& facts) const {
  tir::Builder build(tree.context());
  tree.edit_block(block, [&](const Block& from) {
    const auto* store = from.body.as<tir::Store>();
    std::vector<Stmt> parts;
    std::vector<BufferRef> locals;
    arith::Substitution replaced;
    for (Expr e : facts) {
      BufferRef local = build.buffer("operand", e.dtype(), {}, tir::Scope::kLocal);
      locals.push_back(local);
      replaced[e] = build.load(local, {});
      const auto* select = e.as<arith::Select>();
      parts.push_back(build.store(local, {}, select != nullptr ? select->else_value : tree.context().zero(e.dtype())));
      Stmt fill = build.store(local, {}, select != nullptr ? without_clamps(select->then_value, select->condition) : e);
      parts.push_back(select != nullptr ? build.branch(select->condition, fill) : fill);
    }
    Block update = from;
    update.body = build.store(store->buffer, store->indices, arith::substitute(store->value, replaced));
    parts.push_back(make_stmt(tree.context(), std::move(update)));
    Stmt s = build.seq(std::move(parts));
    for (size_t i = locals.size(); i-- > 0;) s = build.alloc(locals[i], s);
    return s;
  });
  return Done{};
}

}  // namespace relaxc::schedule
