// loops.cpp: primitives on loops.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/arith/walks.h"
#include "compiler/schedule/access.h"
#include "compiler/schedule/edit.h"
#include "compiler/schedule/legality.h"
#include "compiler/tir/annotations.h"

namespace relaxc::schedule {

using tir::For;
using tir::Indices;
using tir::LoopKind;

const For& Schedule::loop(uint32_t id) const {
  const For* found = nullptr;
  tir::for_each_stmt(root_, [&](Stmt s) {
    const auto* node = s.as<For>();
    if (node != nullptr && node->id == id) found = node;
  });
  RELAXC_CHECK(found != nullptr, "a schedule names a loop that does not exist");
  return *found;
}

const tir::Block& Schedule::block(uint32_t id) const {
  const tir::Block* found = nullptr;
  tir::for_each_stmt(root_, [&](Stmt s) {
    const auto* node = s.as<tir::Block>();
    if (node != nullptr && node->id == id) found = node;
  });
  RELAXC_CHECK(found != nullptr, "a schedule names a block that does not exist");
  return *found;
}

void Schedule::note(std::string line) {
  trace_ += line + "\n";
}

/// What a loop primitive cannot follow is left as it is.
void Schedule::require_plain(uint32_t id) const {
  require(is_plain(loop(id).body),
          [&] { return fmt::format("loop '{}' has iterations that may end early, or calls, in it", loop_name(id)); });
}

/// The loop has no vectors or copies of its body yet.
void Schedule::require_in_order(uint32_t id) const {
  require_plain(id);
  LoopKind kind = loop(id).loop_kind;
  require(kind == LoopKind::kSerial || kind == LoopKind::kParallel, [&] {
    return fmt::format("loop '{}' is already {}", loop_name(id),
                       kind == LoopKind::kVectorized ? "vectorized" : "unrolled");
  });
}

For Schedule::made_loop(Var var, Expr extent, Stmt body) {
  For made;
  made.id = context_.next_id() + 1;
  made.var = var;
  made.min = context_.index(0);
  made.extent = extent;
  made.body = body;
  return made;
}

/// Everything that `s` binds gets a new identity.
Stmt Schedule::fresh_copy(Stmt root, Copies& copies) {
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt s) {
    if (const auto* node = s.as<For>()) {
      For copy = *node;
      copy.id = copies.loops[node->id] = context_.next_id() + 1;
      copy.var = context_.var(node->var.name());
      copy.body = tir::substitute(context_, node->body, {{node->var, copy.var}});
      return make_stmt(context_, std::move(copy));
    }
    if (const auto* node = s.as<tir::Block>()) {
      tir::Block copy = *node;
      arith::Substitution axes;
      for (tir::IterVar& iter : copy.iters) {
        Var fresh = context_.var(iter.var.name());
        axes[iter.var] = fresh;
        iter.var = fresh;
      }
      copy.id = copies.blocks[node->id] = context_.next_id() + 1;
      if (copy.init) copy.init = tir::substitute(context_, copy.init, axes);
      copy.body = tir::substitute(context_, copy.body, axes);
      if (copy.predicate) copy.predicate = arith::substitute(copy.predicate, axes);
      return make_stmt(context_, std::move(copy));
    }
    if (const auto* node = s.as<tir::Let>()) {
      Var fresh = context_.var(node->var.name(), node->var.dtype());
      return build_.let(fresh, node->value, tir::substitute(context_, node->body, {{node->var, fresh}}));
    }
    if (const auto* node = s.as<tir::Alloc>()) {
      tir::Buffer buffer = *node->buffer;
      buffer.id = context_.next_id();
      BufferRef fresh = context_.arena().make<tir::Buffer>(std::move(buffer));
      return build_.alloc(fresh, redirect(context_, node->body, node->buffer, fresh,
                                          [](const Indices& i) { return std::optional(i); }));
    }
    return s;
  };
  return tir::rewrite(context_, root, rewriter);
}

namespace {

/// Loads from memory in `e` that every iteration of a loop makes alike: not under a select, not at places that depend
/// on `var`.
std::vector<Expr> find_common_loads(Expr value, Var var) {
  std::vector<Expr> found;
  arith::for_each_reached(value, [&](Expr e) {
    const auto* load = e.as<arith::Load>();
    if (load != nullptr && load->buffer->scope != tir::Scope::kLocal && !depends_on(e, var)) found.push_back(e);
    bool lazy = e.as<arith::Select>() != nullptr || e.as<arith::And>() != nullptr || e.as<arith::Or>() != nullptr;
    return load != nullptr || lazy || e.dtype().is_index() ? std::vector<Expr>{} : arith::operands(e);
  });
  return found;
}

}  // namespace

/// Stores to memory, and what reads memory at places that depend on `var`, happen only where `condition` holds. Some
/// iteration of a tile always does, so loads that all of them make alike stay outside of the condition.
Stmt Schedule::masked(Stmt root, Var var, Expr condition) {
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt s) {
    const auto* store = s.as<tir::Store>();
    if (store == nullptr) return s;
    bool visible = store->buffer->scope != tir::Scope::kLocal;
    for_each_access(s, [&](const Access& access) {
      if (access.buffer->scope == tir::Scope::kLocal) return;
      for (Expr index : access.indices) visible |= depends_on(index, var);
    });
    if (!visible) return s;
    const std::vector<Expr> common = find_common_loads(store->value, var);
    std::vector<Var> names;
    arith::Substitution named;
    for (Expr load : common) {
      names.push_back(context_.var("common", load.dtype()));
      named[load] = names.back();
    }
    Stmt guarded =
        build_.branch(condition, build_.store(store->buffer, store->indices, arith::substitute(store->value, named)));
    for (size_t i = common.size(); i-- > 0;) guarded = build_.let(names[i], common[i], guarded);
    return guarded;
  };
  return tir::rewrite(context_, root, rewriter);
}

/// An iteration that a mask leaves out must do nothing that is seen, and read nothing that is not there. Masks are put
/// around stores, so nothing else may depend on the variable or outlive the iteration.
void Schedule::require_maskable(uint32_t id) const {
  const For& from = loop(id);
  std::set<BufferRef> own;  // asked for membership only
  bool fits = true;
  tir::for_each_stmt(from.body, [&](Stmt s) {
    if (const auto* alloc = s.as<tir::Alloc>()) own.insert(alloc->buffer);
    const auto* block = s.as<tir::Block>();
    fits &= block == nullptr || (block->iters.empty() && !block->predicate && !block->init);
    const auto* store = s.as<tir::Store>();
    if (store != nullptr && store->buffer->scope == tir::Scope::kLocal) fits &= own.count(store->buffer) != 0;
    if (store != nullptr) return;
    for (Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](Expr node) { fits &= node.as<arith::Load>() == nullptr; });
  });
  require(fits, [&] {
    return fmt::format(
        "loop '{}' cannot be masked: its body holds a block with axes of its own, reads memory outside of "
        "stores, or changes a local that outlives it; 'peeled' can do it",
        loop_name(id));
  });
}

int64_t Schedule::known_divisor(uint32_t id) const {
  return arith::divisor(arith::simplify(loop(id).extent), facts_);
}

namespace {

/// What is left over of a loop may lie beyond all that a condition asks for: behind the border of a picture.
Stmt without_dead_branches(Context& context, Stmt s, const arith::Facts& facts) {
  return tir::rewrite(context, s,
                      {.on_expr = {},
                       .on_stmt =
                           [&](Stmt inner) {
                             const auto* branch = inner.as<tir::If>();
                             bool dead =
                                 branch != nullptr && arith::decide(branch->condition, facts) == arith::Truth::kFalse;
                             return dead ? branch->else_body : inner;
                           },
                       .on_buffer = {}});
}

}  // namespace

SplitLoops Schedule::split(uint32_t id, int64_t factor, Tail tail) {
  SplitLoops made;
  require_in_order(id);
  require(factor > 0, "a loop is split by a number of at least 1");
  bool whole_tiles = arith::divisor(arith::simplify(loop(id).extent), facts_) % factor == 0;
  if (tail == Tail::kMask && !whole_tiles) require_maskable(id);
  note(fmt::format("split {} {} {}", loop_name(id), factor, tail == Tail::kMask ? "masked" : "peeled"));
  edit_loop(id, [&](const For& from) {
    const std::string& name = from.var.name();
    Var o = context_.var(name + "_o"), i = context_.var(name + "_i");
    Expr extent = arith::simplify(from.extent), width = context_.index(factor);
    auto nest = [&](Expr count, Stmt body) {
      For inner = made_loop(i, width, tir::substitute(context_, body, {{from.var, from.min + o * factor + i}}));
      For outer = made_loop(o, count, {});
      outer.loop_kind = from.loop_kind;
      made.inner = inner.id, made.outer = outer.id;
      outer.body = make_stmt(context_, std::move(inner));
      return make_stmt(context_, std::move(outer));
    };
    bool fits = arith::divisor(extent, facts_) % factor == 0;
    if (fits) return nest(arith::floordiv(extent, factor), from.body);
    if (tail == Tail::kMask) {
      Expr inside = arith::lt(from.var, from.min + extent);
      return nest(arith::ceildiv(extent, factor), masked(from.body, from.var, inside));
    }
    Expr whole = arith::floordiv(extent, factor);
    std::vector<Stmt> parts;
    if (!whole.is_constant(0)) parts.push_back(nest(whole, from.body));
    Var t = context_.var(name + "_t");
    Stmt rest =
        tir::substitute(context_, fresh_copy(from.body, made.copies), {{from.var, from.min + whole * factor + t}});
    Expr left_over = arith::floormod(extent, factor);
    arith::Facts facts = facts_of_loops();
    if (left_over.constant() != nullptr) facts.bound(t, {0, *left_over.constant() - 1});
    For last = made_loop(t, left_over, without_dead_branches(context_, rest, facts));
    last.loop_kind = from.loop_kind;
    made.tail = last.id;
    parts.push_back(make_stmt(context_, std::move(last)));
    return build_.seq(std::move(parts));
  });
  return made;
}

uint32_t Schedule::fuse(uint32_t outer_id, uint32_t inner_id) {
  require_in_order(outer_id), require_in_order(inner_id);
  require(can_fuse(loop(outer_id), loop(inner_id), true), [&] {
    return fmt::format("loops '{}' and '{}' are not one inside of the other, or not side by side in all that they read",
                       loop_name(outer_id), loop_name(inner_id));
  });
  note(fmt::format("fuse {} {}", loop_name(outer_id), loop_name(inner_id)));
  uint32_t fused_id = 0;
  std::map<std::pair<uint32_t, size_t>, std::pair<BufferRef, BufferRef>> views;
  edit_loop(outer_id, [&](const For& outer) {
    const For& inner = *outer.body.as<For>();
    Var p = context_.var(outer.var.name() + inner.var.name());
    for_each_access(inner.body, [&](const Access& access) {
      std::optional<size_t> at = fused_place(access.indices, outer.var, inner.var);
      if (!at) return;
      auto& [from, to] = views[{access.buffer->id, *at}];
      from = access.buffer;
      if (to != nullptr) return;
      tir::Buffer flat = *from;
      flat.id = context_.next_id();
      flat.shape[*at] = flat.shape[*at] * flat.shape[*at + 1];
      flat.shape.erase(flat.shape.begin() + static_cast<std::ptrdiff_t>(*at) + 1);
      to = context_.arena().make<tir::Buffer>(std::move(flat));
    });
    Stmt body = inner.body;
    for (auto& [key, pair] : views) {
      size_t at = key.second;
      body = redirect(context_, body, pair.first, pair.second, [&](const Indices& from) -> std::optional<Indices> {
        if (fused_place(from, outer.var, inner.var) != at) return std::nullopt;
        Indices to = from;
        Expr before = arith::substitute(from[at], {{outer.var, context_.index(0)}});
        Expr along = arith::substitute(from[at + 1], {{inner.var, context_.index(0)}});
        to[at] = arith::simplify(before * inner.extent + along + p);
        to.erase(to.begin() + static_cast<std::ptrdiff_t>(at) + 1);
        return to;
      });
    }
    body = tir::substitute(
        context_, body, {{outer.var, arith::floordiv(p, inner.extent)}, {inner.var, arith::floormod(p, inner.extent)}});
    For made = made_loop(p, outer.extent * inner.extent, body);
    fused_id = made.id;
    return make_stmt(context_, std::move(made));
  });
  for (auto& [key, pair] : views) add_view(pair.second, pair.first);
  return fused_id;
}

/// Outside of all loops if its base exists there, so that it stands in nobody's way; else right where the base begins.
void Schedule::add_view(BufferRef view, BufferRef base) {
  std::vector<const tir::View*> outer;
  Stmt s = root_;
  for (; s.as<tir::View>() != nullptr; s = s.as<tir::View>()->body) outer.push_back(s.as<tir::View>());
  bool inside = false;
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt inner) {
    const auto* alloc = inner.as<tir::Alloc>();
    if (alloc == nullptr || alloc->buffer != base) return inner;
    inside = true;
    return build_.alloc(base, build_.view(view, base, context_.index(0), alloc->body));
  };
  s = tir::rewrite(context_, s, rewriter);
  if (!inside) s = build_.view(view, base, context_.index(0), s);
  for (size_t i = outer.size(); i-- > 0;) s = build_.view(outer[i]->buffer, outer[i]->base, outer[i]->byte_offset, s);
  root_ = s;
}

std::vector<const For*> Schedule::perfect_nest(const std::vector<uint32_t>& loops) const {
  std::vector<const For*> chain;
  auto wanted = [&](uint32_t id) { return std::find(loops.begin(), loops.end(), id) != loops.end(); };
  tir::for_each_stmt(root_, [&](Stmt s) {
    const auto* node = s.as<For>();
    if (node != nullptr && chain.empty() && wanted(node->id)) chain.push_back(node);
  });
  std::set<uint32_t> distinct(loops.begin(), loops.end());
  if (chain.empty() || distinct.size() != loops.size()) return {};
  while (chain.size() < loops.size()) {
    const auto* next = chain.back()->body.as<For>();
    if (next == nullptr || !wanted(next->id)) return {};
    chain.push_back(next);
  }
  return chain;
}

namespace {

std::vector<size_t> places_in(const std::vector<const For*>& chain, const std::vector<uint32_t>& order) {
  std::vector<size_t> places;
  for (uint32_t id : order)
    places.push_back(static_cast<size_t>(
        std::find_if(chain.begin(), chain.end(), [&](const For* node) { return node->id == id; }) - chain.begin()));
  return places;
}

}  // namespace

bool Schedule::can_reorder(const std::vector<uint32_t>& loops) const {
  std::vector<const For*> chain = perfect_nest(loops);
  return !chain.empty() && may_reorder(context_, root_, chain, places_in(chain, loops));
}

void Schedule::reorder(const std::vector<uint32_t>& order) {
  std::vector<const For*> chain = perfect_nest(order);
  require(!chain.empty(), "loops that do not stand directly inside each other cannot be reordered");
  for (const For* loop : chain) require_in_order(loop->id);
  require(may_reorder(context_, root_, chain, places_in(chain, order)),
          "in this order an iteration would need what a later one makes; a reduction's order changes after "
          "'reassociate'");
  note("reorder " + loop_names(order));
  edit_loop(chain[0]->id, [&](const For&) {
    Stmt s = chain.back()->body;
    for (size_t i = order.size(); i-- > 0;) {
      For moved = **std::find_if(chain.begin(), chain.end(), [&](const For* node) { return node->id == order[i]; });
      moved.body = s;
      s = make_stmt(context_, std::move(moved));
    }
    return s;
  });
}

void Schedule::drop_unit_loop(uint32_t id) {
  require_plain(id);
  require(loop(id).extent.is_constant(1), "a loop of another number of iterations than one cannot go away");
  note("drop_unit_loop " + loop_name(id));
  edit_loop(id, [&](const For& from) { return tir::substitute(context_, from.body, {{from.var, from.min}}); });
}

void Schedule::set_kind(uint32_t id, LoopKind kind, const char* name) {
  require_in_order(id);
  note(fmt::format("{} {}", name, loop_name(id)));
  edit_loop(id, [&](const For& from) {
    For to = from;
    to.loop_kind = kind;
    return make_stmt(context_, std::move(to));
  });
}

/// Its body is there as many times, or as wide.
void Schedule::require_few(uint32_t id) const {
  constexpr int64_t kMost = 256;
  const int64_t* extent = loop(id).extent.constant();
  require(extent != nullptr && *extent <= kMost, [&] {
    return fmt::format("loop '{}' has {} iterations, and at most {} can stand side by side; split it first",
                       loop_name(id), arith::to_string(loop(id).extent), kMost);
  });
}

void Schedule::require_together(uint32_t id) const {
  require(may_run_together(root_, loop(id)), [&] {
    return fmt::format("iterations of loop '{}' may meet: one needs what another one stores", loop_name(id));
  });
}

namespace {

const For* first_loop(Stmt s) {
  const For* found = nullptr;
  tir::for_each_stmt(s, [&](Stmt inner) {
    if (found == nullptr) found = inner.as<For>();
  });
  return found;
}

std::vector<const For*> loops_over(Stmt tree, uint32_t id) {
  std::vector<const For*> found;
  tir::for_each_stmt(tree, [&](Stmt s) {
    const auto* outer = s.as<For>();
    if (outer == nullptr || outer->id == id) return;
    bool holds = false;
    tir::for_each_stmt(outer->body, [&](Stmt inner) {
      const auto* loop = inner.as<For>();
      holds |= loop != nullptr && loop->id == id;
    });
    if (holds) found.push_back(outer);
  });
  return found;
}

}  // namespace

std::vector<const For*> Schedule::loops_around(uint32_t id) const {
  return loops_over(root_, id);
}

bool Schedule::stands_in(uint32_t id, LoopKind kind) const {
  std::vector<const For*> around = loops_around(id);
  if (focus_.whole)  // loops that stand around all that is in focus
    if (const auto* outermost = first_loop(focus_.taken[0]))
      for (const For* outer : loops_over(focus_.whole, outermost->id)) around.push_back(outer);
  return std::any_of(around.begin(), around.end(), [&](const For* outer) { return outer->loop_kind == kind; });
}

void Schedule::vectorize(uint32_t id) {
  require_few(id), require_together(id);
  require(loop(id).loop_kind == LoopKind::kSerial, "a parallel loop cannot be vectorized; split it first");
  require(!stands_in(id, LoopKind::kVectorized), "a loop inside of a vectorized one cannot be vectorized, too");
  set_kind(id, LoopKind::kVectorized, "vectorize");
}
void Schedule::prefetch(uint32_t id, int64_t bytes) {
  constexpr int64_t kMost = 1 << 20;
  require(loop(id).loop_kind == LoopKind::kVectorized,
          [&] { return fmt::format("loop '{}' is not vectorized", loop_name(id)); });
  require(bytes > 0 && bytes <= kMost,
          [&] { return fmt::format("a line 1 to {} bytes behind can be asked for", kMost); });
  note(fmt::format("prefetch {} {}", loop_name(id), bytes));
  edit_loop(id, [&](const For& from) {
    For to = from;
    to.annotations[tir::kPrefetch] = bytes;
    return make_stmt(context_, std::move(to));
  });
}
void Schedule::unroll(uint32_t id) {
  require_few(id);
  set_kind(id, LoopKind::kUnrolled, "unroll");
}
void Schedule::require_parallelizable(uint32_t id) const {
  require_in_order(id), require_together(id);
  bool inside = false;
  for (LoopKind kind : {LoopKind::kParallel, LoopKind::kVectorized, LoopKind::kUnrolled}) inside |= stands_in(id, kind);
  tir::for_each_stmt(loop(id).body, [&](Stmt s) {
    const auto* inner = s.as<For>();
    inside |= inner != nullptr && inner->loop_kind == LoopKind::kParallel;
  });
  require(!inside, "loops that run at the same time do not stand inside of each other");
}
void Schedule::parallel(uint32_t id) {
  require_parallelizable(id);
  set_kind(id, LoopKind::kParallel, "parallel");
}

}  // namespace relaxc::schedule
