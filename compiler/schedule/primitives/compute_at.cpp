// compute_at.cpp: see compute_at.h.
#include "compiler/schedule/primitives/compute_at.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/region.h"
#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::For;
using tir::Indices;

namespace {

/// Whether `first` comes before the statement that contains the loop, in one sequence.
bool stands_before(Stmt root, Stmt first, uint32_t loop) {
  bool before = false;
  tir::for_each_stmt(root, [&](Stmt s) {
    const auto* seq = s.as<tir::Seq>();
    if (seq == nullptr) return;
    for (auto at = std::find(seq->body.begin(), seq->body.end(), first); at != seq->body.end(); ++at)
      if (*at != first)
        tir::for_each_stmt(*at, [&](Stmt inner) {
          const auto* node = inner.as<For>();
          before |= node != nullptr && node->id == loop;
        });
  });
  return before;
}

/// The nest for those elements of a box that exist.
Stmt part_of(Tree& tree, Stmt nest, const Region& region) {
  tir::Builder build(tree.context());
  const std::vector<const For*> axes = axes_of(tree, nest);
  const arith::Facts facts = facts_of_loops(tree.root());
  Stmt body = nest;
  for (size_t i = 0; i < axes.size(); ++i) body = body.as<For>()->body;  // the axes are the outermost loops
  std::vector<Var> own;
  Indices at;
  arith::Facts within = facts;
  arith::Substitution moved;
  for (size_t i = 0; i < axes.size(); ++i) {
    own.push_back(tree.context().var(axes[i]->var.name()));
    within.bound(own[i], {0, region.extent[i] - 1});
    at.push_back(arith::simplify(region.begin[i] + own[i]));
    moved[axes[i]->var] = at[i];
  }
  body = tir::substitute(tree.context(), body, moved);
  if (Expr exists = inside(analysis::as_nest(nest).store->buffer, at, within)) body = build.branch(exists, body);
  for (size_t i = axes.size(); i-- > 0;)
    body = make_stmt(tree.context(), new_loop(tree.context(), own[i], tree.context().index(region.extent[i]), body));
  return body;
}

}  // namespace

Legal<ComputeAt::Facts> ComputeAt::legal(const Tree& tree) const {
  const Stmt nest = nest_around(tree.root(), block);
  RELAXC_REQUIRE(static_cast<bool>(nest), "no nest of its own is around block " + block_name(tree, block));
  RELAXC_LEGAL(is_producer(tree, nest));
  const For& at = tree.loop(loop);
  const BufferRef buffer = analysis::as_nest(nest).store->buffer;
  RELAXC_REQUIRE(stands_before(tree.root(), nest, loop),
                 fmt::format("the nest of block '{}' is not before the one that loop '{}' is in",
                             block_name(tree, block), loop_name(tree, loop)));
  RELAXC_REQUIRE(!is_read_besides(tree, buffer, {at.body, nest}),
                 fmt::format("{} is read outside of loop '{}', too", buffer->name, loop_name(tree, loop)));
  RELAXC_REQUIRE(at.loop_kind == tir::LoopKind::kSerial && !is_inside_loop(tree, loop, tir::LoopKind::kParallel) &&
                     !is_inside_loop(tree, loop, tir::LoopKind::kVectorized),
                 fmt::format("iterations of loop '{}' would compute at the same time", loop_name(tree, loop)));
  const std::optional<Region> region = region_of(at.body, buffer);
  RELAXC_REQUIRE(region.has_value(), fmt::format("it is not known which part of {} an iteration of loop '{}' reads",
                                                 buffer->name, loop_name(tree, loop)));
  return Facts{nest, *region};
}

ComputeAt::Made ComputeAt::apply(Tree& tree, const Facts& facts) const {
  tir::Builder build(tree.context());
  const Stmt part = part_of(tree, facts.nest, facts.region);
  tir::Rewriter drop;
  drop.on_stmt = [&](Stmt s) { return s == facts.nest ? Stmt() : s; };
  tree.set_root(tir::rewrite(tree.context(), tree.root(), drop));
  tree.edit_loop(loop, [&](const For& from) {
    For to = from;
    to.body = build.seq({part, from.body});
    return make_stmt(tree.context(), std::move(to));
  });
  return Done{};
}

}  // namespace relaxc::schedule
