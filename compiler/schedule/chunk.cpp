// chunk.cpp: primitives that give loops their iterations: tiles, whole ones, and for parallel loops neither too few nor
// too small ones.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/schedule/access.h"
#include "compiler/schedule/edit.h"
#include "compiler/schedule/legality.h"

namespace relaxc::schedule {

using tir::For;

void Schedule::tile(const std::vector<uint32_t>& loops, const std::vector<int64_t>& sizes) {
  const std::vector<const For*> chain = perfect_nest(loops);
  require(!chain.empty() && loops.size() == sizes.size() && chain[0]->id == loops[0], [&] {
    return fmt::format("{} are not loops directly inside of each other, or there is not one size for each",
                       loop_names(loops));
  });
  const std::string step = fmt::format("tile {} [{}]", loop_names(loops), fmt::join(sizes, ", "));
  Schedule tiled = *this;
  std::vector<uint32_t> order, within;
  for (size_t i = 0; i < loops.size(); ++i) {
    const SplitLoops made = tiled.split(loops[i], sizes[i], Tail::kMask);
    order.push_back(made.outer), within.push_back(made.inner);
  }
  order.insert(order.end(), within.begin(), within.end());
  tiled.reorder(order);
  tiled.trace_ = trace_;
  tiled.note(step);
  *this = tiled;
}

void Schedule::pad_to(uint32_t id, int64_t multiple) {
  require_in_order(id);
  require(multiple > 0, "iterations are a multiple of at least 1");
  const bool whole = known_divisor(id) % multiple == 0;
  if (!whole) require_maskable(id);
  note(fmt::format("pad_to {} {}", loop_name(id), multiple));
  if (whole) return;
  edit_loop(id, [&](const For& from) {
    For to = from;
    to.extent = arith::simplify(arith::ceildiv(from.extent, multiple) * multiple);
    to.body = masked(from.body, from.var, arith::lt(from.var, from.min + from.extent));
    return make_stmt(context_, std::move(to));
  });
}

uint32_t Schedule::chunk(uint32_t id, int64_t size) {
  require_in_order(id);
  require(size > 0, "a chunk has at least 1 iteration");
  note(fmt::format("chunk {} {}", loop_name(id), size));
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

uint32_t Schedule::share(uint32_t id, int64_t tasks) {
  require_parallelizable(id);
  require(tasks > 1 && tasks <= 4096, "work is shared among 2 to 4096 tasks");
  require(loop(id).loop_kind == tir::LoopKind::kSerial, "a loop in order can be shared, and no other");
  note(fmt::format("share {} {}", loop_name(id), tasks));
  uint32_t inner_id = 0;
  edit_loop(id, [&](const For& from) {
    Var task = context_.var("task"), own = context_.var(from.var.name());
    Expr share = arith::ceildiv(from.extent, tasks);
    Expr left = arith::max(context_.index(0), from.extent - task * share);  // the last tasks may have nothing to do
    For inner = made_loop(own, arith::min(share, left),
                          tir::substitute(context_, from.body, {{from.var, from.min + task * share + own}}));
    For outer = made_loop(task, arith::simplify(arith::min(context_.index(tasks), from.extent)),
                          make_stmt(context_, std::move(inner)));
    outer.loop_kind = tir::LoopKind::kParallel;
    inner_id = outer.body.as<For>()->id;
    return make_stmt(context_, std::move(outer));
  });
  return inner_id;
}

void Schedule::lift_allocs(uint32_t id) {
  const For& own = loop(id);
  require(own.loop_kind == tir::LoopKind::kSerial, "iterations at the same time need memory each");
  for (Stmt s = own.body; s.as<tir::Alloc>() != nullptr; s = s.as<tir::Alloc>()->body)
    for (Expr dim : s.as<tir::Alloc>()->buffer->shape)
      require(!depends_on(dim, own.var), "the memory of each iteration has another size");
  note("lift_allocs " + loop_name(id));
  edit_loop(id, [&](const For& from) {
    std::vector<BufferRef> lifted;
    For to = from;
    to.annotations.erase(kApart);
    for (; to.body.as<tir::Alloc>() != nullptr; to.body = to.body.as<tir::Alloc>()->body)
      lifted.push_back(to.body.as<tir::Alloc>()->buffer);
    Stmt s = make_stmt(context_, std::move(to));
    for (size_t i = lifted.size(); i-- > 0;) s = build_.alloc(lifted[i], s);
    return s;
  });
}

uint32_t Schedule::collapse(uint32_t outer_id, uint32_t inner_id) {
  const For& around = loop(outer_id);
  const auto* nested = around.body.as<For>();
  require_in_order(outer_id), require_in_order(inner_id);
  require(
      nested != nullptr && nested->id == inner_id && !depends_on(nested->extent, around.var) &&
          !depends_on(nested->min, around.var),
      [&] { return fmt::format("loop '{}' is not all that '{}' holds", loop_name(inner_id), loop_name(outer_id)); });
  if (around.loop_kind == tir::LoopKind::kParallel) require_together(inner_id);
  require(nested->loop_kind == tir::LoopKind::kSerial, "the inner loop is parallel");
  note(fmt::format("collapse {} {}", loop_name(outer_id), loop_name(inner_id)));
  uint32_t made_id = 0;
  edit_loop(outer_id, [&](const For& outer) {
    const auto* inner = outer.body.as<For>();
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
