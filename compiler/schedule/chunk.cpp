// chunk.cpp: primitives that give a parallel loop its iterations: neither too few nor too small.
#include <fmt/format.h>

#include "compiler/schedule/access.h"
#include "compiler/schedule/edit.h"
#include "compiler/schedule/independence.h"

namespace relaxc::schedule {

using tir::For;

uint32_t Schedule::chunk(uint32_t id, int64_t size) {
  note(fmt::format("chunk {} by {}", loop(id).var.name(), size));
  uint32_t outer_id = 0;
  edit_loop(id, [&](const For& from) {
    const std::string& name = from.var.name();
    Var o = context_.var(name + "_c"), i = context_.var(name + "_i");
    Expr begin = o * size, left = from.extent - begin;
    For inner = made_loop(i, arith::simplify(arith::min(context_.index(size), left)),
                          tir::substitute(context_, from.body, {{from.var, from.min + begin + i}}));
    For outer = made_loop(o, arith::simplify(arith::ceildiv(from.extent, size)), make_stmt(context_, std::move(inner)));
    outer.loop_kind = from.loop_kind;
    outer_id = outer.id;
    return make_stmt(context_, std::move(outer));
  });
  return outer_id;
}

void Schedule::lift_allocs(uint32_t id) {
  note("lift_allocs of " + loop(id).var.name());
  edit_loop(id, [&](const For& from) {
    RELAXC_CHECK(from.loop_kind == tir::LoopKind::kSerial, "iterations at the same time need memory each");
    std::vector<BufferRef> lifted;
    For to = from;
    for (; to.body.as<tir::Alloc>() != nullptr; to.body = to.body.as<tir::Alloc>()->body)
      lifted.push_back(to.body.as<tir::Alloc>()->buffer);
    Stmt s = make_stmt(context_, std::move(to));
    for (size_t i = lifted.size(); i-- > 0;) s = build_.alloc(lifted[i], s);
    return s;
  });
}

uint32_t Schedule::collapse(uint32_t outer_id, uint32_t inner_id) {
  note(fmt::format("collapse {}, {}", loop(outer_id).var.name(), loop(inner_id).var.name()));
  uint32_t made_id = 0;
  edit_loop(outer_id, [&](const For& outer) {
    const auto* inner = outer.body.as<For>();
    RELAXC_CHECK(inner != nullptr && inner->id == inner_id && !depends_on(inner->extent, outer.var) &&
                     !depends_on(inner->min, outer.var),
                 "two loops that cannot be one");
    RELAXC_CHECK(outer.loop_kind != tir::LoopKind::kParallel || has_independent_iterations(root_, *inner),
                 "a parallel loop whose iterations may meet");
    Var p = context_.var(outer.var.name() + inner->var.name());
    Stmt body = tir::substitute(context_, inner->body,
                                {{outer.var, outer.min + arith::floordiv(p, inner->extent)},
                                 {inner->var, inner->min + arith::floormod(p, inner->extent)}});
    For made = made_loop(p, arith::simplify(outer.extent * inner->extent), body);
    made.loop_kind = outer.loop_kind;
    made_id = made.id;
    return make_stmt(context_, std::move(made));
  });
  return made_id;
}

}  // namespace relaxc::schedule
