// placement.cpp: primitives that move a nest to where what it computes is needed, or what it needs is computed.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/access.h"
#include "compiler/schedule/edit.h"
#include "compiler/schedule/legality.h"
#include "compiler/schedule/region.h"

namespace relaxc::schedule {

using tir::For;
using tir::Indices;

namespace {

/// What runs between the end of one statement and the beginning of another one behind it in the same sequence; nothing
/// if they do not stand so.
std::optional<std::vector<Stmt>> between(Stmt root, uint32_t loop, Stmt last) {
  std::optional<std::vector<Stmt>> found;
  tir::for_each_stmt(root, [&](Stmt s) {
    const auto* seq = s.as<tir::Seq>();
    if (seq == nullptr) return;
    auto end = std::find(seq->body.begin(), seq->body.end(), last);
    auto begin = std::find_if(seq->body.begin(), end, [&](Stmt one) {
      const auto* node = one.as<For>();
      return node != nullptr && node->id == loop;
    });
    if (end != seq->body.end() && begin != end) found.emplace(begin + 1, end);
  });
  return found;
}

/// Whether `first` and what holds the loop stand in one sequence in this order.
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

/// Whether one of the two writes memory that the other one accesses.
bool may_meet(const Schedule& s, Stmt a, Stmt b) {
  bool meet = false;
  for_each_access(a, [&](const Access& one) {
    for_each_access(b, [&](const Access& other) {
      meet |= (one.is_store || other.is_store) && s.memory_of(one.buffer) == s.memory_of(other.buffer);
    });
  });
  return meet;
}

}  // namespace

void Schedule::reverse_compute_at(uint32_t block_id, uint32_t loop_id, const std::vector<uint32_t>& axes) {
  const Stmt nest = nest_around(root_, block_id);
  require(static_cast<bool>(nest), [&] { return "no nest of its own is around block " + block_name(block_id); });
  analysis::Nest consumer = analysis::as_nest(nest);
  const std::vector<const For*> chain = perfect_nest(axes);
  bool fits = !chain.empty() && axes.back() == loop_id && chain.back()->id == loop_id && is_plain(chain[0]->body) &&
              consumer.loops.size() == axes.size() && consumer.block->iters.empty() && is_plain(nest);
  for (size_t i = 0; fits && i < axes.size(); ++i) {
    fits &= chain[i]->id == axes[i] && arith::prove_equal(consumer.loops[i]->extent, chain[i]->extent);
    fits &= arith::prove_equal(consumer.loops[i]->min, chain[i]->min);
  }
  require(fits, [&] {
    return fmt::format("block '{}' is not in loops over the same range as {}, or its axes are not bound",
                       block_name(block_id), loop_names(axes));
  });
  const std::optional<std::vector<Stmt>> passed = between(root_, axes[0], nest);
  require(passed.has_value(), [&] {
    return fmt::format("the nest of block '{}' does not stand behind loop '{}'", block_name(block_id),
                       loop_name(axes[0]));
  });
  for (Stmt other : *passed)
    require(!may_meet(*this, other, nest), "what stands between the loop and the nest accesses the same memory");
  arith::Substitution map;
  for (size_t i = 0; i < axes.size(); ++i) map[consumer.loops[i]->var] = chain[i]->var;
  Stmt moved = tir::substitute(context_, Stmt(consumer.block), map);
  require(stays_apart(chain, moved), [&] {
    return fmt::format("block '{}' needs elements that {} have not computed yet in the same iteration",
                       block_name(block_id), loop_names(axes));
  });
  note(fmt::format("reverse_compute_at {} {} {}", block_name(block_id), loop_name(loop_id), loop_names(axes)));
  tir::Rewriter drop;
  drop.on_stmt = [&](Stmt s) { return s == nest ? Stmt() : s; };
  root_ = tir::rewrite(context_, root_, drop);
  edit_loop(loop_id, [&](const For& loop) {
    For to = loop;
    to.body = build_.seq({loop.body, moved});
    return make_stmt(context_, std::move(to));
  });
}

/// Whether no iteration of the loops of `chain` meets another one, with `moved` at the end of their bodies.
bool Schedule::stays_apart(const std::vector<const For*>& chain, Stmt moved) {
  Stmt body = build_.seq({chain.back()->body, moved});
  for (size_t i = chain.size(); i-- > 0;) {
    For loop = *chain[i];
    loop.body = body;
    body = make_stmt(context_, std::move(loop));
  }
  std::vector<const For*> made;
  for (const For* at = body.as<For>(); made.size() < chain.size(); at = at->body.as<For>()) made.push_back(at);
  return are_apart(context_, root_, made);
}

void Schedule::inline_nest(uint32_t block_id) {
  const Stmt nest = nest_around(root_, block_id);
  require(static_cast<bool>(nest), [&] { return "no nest of its own is around block " + block_name(block_id); });
  const analysis::Nest producer = analysis::as_nest(nest);
  require(!producer.block->init && axes_of(nest).size() == producer.loops.size(), [&] {
    return fmt::format("block '{}' is a reduction, which has no value to be put anywhere", block_name(block_id));
  });
  require_producer(nest);
  note("inline " + block_name(block_id));
  BufferRef buffer = producer.store->buffer;
  arith::Substitution outer = bindings(*producer.block);
  Expr value = arith::substitute(producer.store->value, outer);
  Indices axes;
  for (Expr index : producer.store->indices) axes.push_back(arith::substitute(index, outer));
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt s) { return s == nest ? Stmt() : s; };
  root_ = tir::rewrite(context_, root_, rewriter);
  rewriter.on_stmt = {};
  rewriter.on_expr = [&](Expr e) {
    return arith::rewrite(e, [&](Expr node) {
      const auto* load = node.as<arith::Load>();
      if (load == nullptr || load->buffer != buffer) return node;
      arith::Substitution at;
      for (size_t i = 0; i < axes.size(); ++i) at[axes[i]] = load->indices[i];
      return arith::substitute(value, at);
    });
  };
  root_ = tir::rewrite(context_, root_, rewriter);
}

void Schedule::compute_at(uint32_t block_id, uint32_t loop_id) {
  const Stmt nest = nest_around(root_, block_id);
  require(static_cast<bool>(nest), [&] { return "no nest of its own is around block " + block_name(block_id); });
  require_producer(nest);
  const For& at = loop(loop_id);
  const BufferRef buffer = analysis::as_nest(nest).store->buffer;
  require(stands_before(root_, nest, loop_id), [&] {
    return fmt::format("the nest of block '{}' does not stand before the one that loop '{}' is in",
                       block_name(block_id), loop_name(loop_id));
  });
  require(!is_read_besides(buffer, {at.body, nest}),
          [&] { return fmt::format("{} is read outside of loop '{}', too", buffer->name, loop_name(loop_id)); });
  require(at.loop_kind == tir::LoopKind::kSerial && !stands_in(loop_id, tir::LoopKind::kParallel) &&
              !stands_in(loop_id, tir::LoopKind::kVectorized),
          [&] { return fmt::format("iterations of loop '{}' would compute at the same time", loop_name(loop_id)); });
  const std::optional<Region> region = region_of(at.body, buffer);
  require(region.has_value(), [&] {
    return fmt::format("it is not known which part of {} an iteration of loop '{}' reads", buffer->name,
                       loop_name(loop_id));
  });
  note(fmt::format("compute_at {} {}", block_name(block_id), loop_name(loop_id)));
  const Stmt part = part_of(nest, *region);
  tir::Rewriter drop;
  drop.on_stmt = [&](Stmt s) { return s == nest ? Stmt() : s; };
  root_ = tir::rewrite(context_, root_, drop);
  edit_loop(loop_id, [&](const For& from) {
    For to = from;
    to.body = build_.seq({part, from.body});
    return make_stmt(context_, std::move(to));
  });
}

/// The nest for the elements of a box that exist.
Stmt Schedule::part_of(Stmt nest, const Region& region) {
  const std::vector<const For*> axes = axes_of(nest);
  const arith::Facts facts = facts_of_loops();
  Stmt body = nest;
  for (size_t i = 0; i < axes.size(); ++i) body = body.as<For>()->body;  // they are the outermost
  std::vector<Var> own;
  Indices at;
  arith::Facts within = facts;
  arith::Substitution moved;
  for (size_t i = 0; i < axes.size(); ++i) {
    own.push_back(context_.var(axes[i]->var.name()));
    within.bound(own[i], {0, region.extent[i] - 1});
    at.push_back(arith::simplify(region.begin[i] + own[i]));
    moved[axes[i]->var] = at[i];
  }
  body = tir::substitute(context_, body, moved);
  if (Expr exists = inside(analysis::as_nest(nest).store->buffer, at, within)) body = build_.branch(exists, body);
  for (size_t i = axes.size(); i-- > 0;)
    body = make_stmt(context_, made_loop(own[i], context_.index(region.extent[i]), body));
  return body;
}

/// The nest gives every element of memory that only this kernel sees, in loops of their own, and what it reads is the
/// same later.
void Schedule::require_producer(Stmt nest) const {
  const analysis::Nest producer = analysis::as_nest(nest);
  const BufferRef buffer = producer.store->buffer;
  require(!axes_of(nest).empty() && is_unseen(buffer) && memory_of(buffer) == buffer, [&] {
    return fmt::format("block '{}' does not compute every element of '{}' once, or '{}' is seen outside",
                       block_name(producer.block->id), buffer->name, buffer->name);
  });
  std::set<BufferRef> read;  // asked for membership only
  for_each_access(nest, [&](const Access& access) {
    if (!access.is_store) read.insert(memory_of(access.buffer));
  });
  if (producer.block->init) read.erase(buffer);
  std::set<const tir::StmtNode*> inside;
  tir::for_each_stmt(nest, [&](Stmt s) { inside.insert(s.node()); });
  bool stays = read.count(buffer) == 0 && is_plain(root_);
  tir::for_each_stmt(root_, [&](Stmt s) {
    if (inside.count(s.node()) != 0) return;
    if (const auto* store = s.as<tir::Store>())
      stays &= memory_of(store->buffer) != buffer && read.count(memory_of(store->buffer)) == 0;
    if (const auto* view = s.as<tir::View>()) stays &= view->base != buffer;
  });
  require(stays, [&] {
    return fmt::format("what block '{}' reads, or computes, is stored to elsewhere", block_name(producer.block->id));
  });
}

/// The loops over the dims of what a nest computes, which are its outermost ones in any order; empty: it is another
/// kind of nest, or has other elements than the buffer.
std::vector<const For*> Schedule::axes_of(Stmt nest) const {
  const analysis::Nest producer = analysis::as_nest(nest);
  const Indices& indices = producer.store->indices;
  const arith::Substitution bound = bindings(*producer.block);
  std::vector<const For*> axes;
  for (size_t i = 0; i < indices.size(); ++i) {
    const Expr axis = arith::substitute(indices[i], bound);
    const auto end =
        producer.loops.begin() + static_cast<std::ptrdiff_t>(std::min(indices.size(), producer.loops.size()));
    const auto own = std::find_if(producer.loops.begin(), end, [&](const For* l) { return axis == l->var; });
    if (own == end || std::find(axes.begin(), axes.end(), *own) != axes.end()) return {};
    const bool whole = (*own)->min.is_constant(0) && (*own)->loop_kind == tir::LoopKind::kSerial &&
                       arith::prove_equal((*own)->extent, producer.store->buffer->shape[i], facts_);
    if (!whole) return {};
    axes.push_back(*own);
  }
  return axes;
}

}  // namespace relaxc::schedule
