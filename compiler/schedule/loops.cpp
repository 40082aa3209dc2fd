// loops.cpp: primitives on loops.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compiler/schedule/access.h"
#include "compiler/schedule/edit.h"
#include "compiler/schedule/independence.h"

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
void find_common_loads(Expr e, Var var, std::vector<Expr>& found) {
  if (const auto* load = e.as<arith::Load>()) {
    bool memory = load->buffer->scope != tir::Scope::kLocal;
    if (memory && !depends_on(e, var) && std::find(found.begin(), found.end(), e) == found.end()) found.push_back(e);
    return;
  }
  bool lazy = e.as<arith::Select>() != nullptr || e.as<arith::And>() != nullptr || e.as<arith::Or>() != nullptr;
  if (lazy || e.dtype().is_index()) return;
  for (Expr operand : arith::operands(e)) find_common_loads(operand, var, found);
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
    std::vector<Expr> common;
    find_common_loads(store->value, var, common);
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

int64_t Schedule::known_divisor(uint32_t id) const {
  return arith::divisor(arith::simplify(loop(id).extent), facts_);
}

SplitLoops Schedule::split(uint32_t id, int64_t factor, Tail tail) {
  SplitLoops made;
  note(fmt::format("split {} by {}{}", loop(id).var.name(), factor, tail == Tail::kMask ? " masked" : ""));
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
    For last = made_loop(t, arith::floormod(extent, factor), rest);
    last.loop_kind = from.loop_kind;
    made.tail = last.id;
    parts.push_back(make_stmt(context_, std::move(last)));
    return build_.seq(std::move(parts));
  });
  return made;
}

uint32_t Schedule::fuse(uint32_t outer_id, uint32_t inner_id) {
  RELAXC_CHECK(can_fuse(loop(outer_id), loop(inner_id), true), "two loops that cannot be one");
  note(fmt::format("fuse {}, {}", loop(outer_id).var.name(), loop(inner_id).var.name()));
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
  RELAXC_CHECK(!chain.empty(), "a schedule names a loop that does not exist");
  while (chain.size() < loops.size()) {
    const auto* next = chain.back()->body.as<For>();
    if (next == nullptr || !wanted(next->id)) return {};
    chain.push_back(next);
  }
  return chain;
}

bool Schedule::can_reorder(const std::vector<uint32_t>& loops) const {
  return !perfect_nest(loops).empty();
}

void Schedule::reorder(const std::vector<uint32_t>& order) {
  std::vector<const For*> chain = perfect_nest(order);
  RELAXC_CHECK(!chain.empty(), "loops that are not perfectly nested cannot be reordered");
  std::string names;
  for (uint32_t id : order) names += " " + loop(id).var.name();
  note("reorder" + names);
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
  RELAXC_CHECK(loop(id).extent.is_constant(1), "a loop of more than one iteration cannot go away");
  note("drop_unit_loop " + loop(id).var.name());
  edit_loop(id, [&](const For& from) { return tir::substitute(context_, from.body, {{from.var, from.min}}); });
}

void Schedule::set_kind(uint32_t id, LoopKind kind, const char* name) {
  note(fmt::format("{} {}", name, loop(id).var.name()));
  edit_loop(id, [&](const For& from) {
    For to = from;
    to.loop_kind = kind;
    return make_stmt(context_, std::move(to));
  });
}
void Schedule::vectorize(uint32_t id) {
  set_kind(id, LoopKind::kVectorized, "vectorize");
}
void Schedule::unroll(uint32_t id) {
  set_kind(id, LoopKind::kUnrolled, "unroll");
}
void Schedule::parallel(uint32_t id) {
  RELAXC_CHECK(has_independent_iterations(root_, loop(id)), "a parallel loop whose iterations may meet");
  set_kind(id, LoopKind::kParallel, "parallel");
}

}  // namespace relaxc::schedule
