// edit.cpp: see edit.h.
#include "compiler/schedule/tree/edit.h"

#include <algorithm>
#include <set>

#include "compiler/arith/walks.h"
#include "compiler/schedule/analysis/access.h"

namespace relaxc::schedule {

using tir::For;
using tir::Indices;

For new_loop(Context& context, Var var, Expr extent, Stmt body) {
  For made;
  made.id = context.next_id() + 1;
  made.var = var;
  made.min = context.index(0);
  made.extent = extent;
  made.body = body;
  return made;
}

Stmt fresh_copy(Context& context, Stmt root, Copies& copies) {
  tir::Builder build(context);
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt s) {
    if (const auto* node = s.as<For>()) {
      For copy = *node;
      copy.id = copies.loops[node->id] = context.next_id() + 1;
      copy.var = context.var(node->var.name());
      copy.body = tir::substitute(context, node->body, {{node->var, copy.var}});
      return make_stmt(context, std::move(copy));
    }
    if (const auto* node = s.as<tir::Block>()) {
      tir::Block copy = *node;
      arith::Substitution axes;
      for (tir::IterVar& iter : copy.iters) {
        Var fresh = context.var(iter.var.name());
        axes[iter.var] = fresh;
        iter.var = fresh;
      }
      copy.id = copies.blocks[node->id] = context.next_id() + 1;
      if (copy.init) copy.init = tir::substitute(context, copy.init, axes);
      copy.body = tir::substitute(context, copy.body, axes);
      if (copy.predicate) copy.predicate = arith::substitute(copy.predicate, axes);
      return make_stmt(context, std::move(copy));
    }
    if (const auto* node = s.as<tir::Let>()) {
      Var fresh = context.var(node->var.name(), node->var.dtype());
      return build.let(fresh, node->value, tir::substitute(context, node->body, {{node->var, fresh}}));
    }
    if (const auto* node = s.as<tir::Alloc>()) {
      tir::Buffer buffer = *node->buffer;
      buffer.id = context.next_id();
      BufferRef fresh = context.arena().make<tir::Buffer>(std::move(buffer));
      return build.alloc(
          fresh, redirect(context, node->body, node->buffer, fresh, [](const Indices& i) { return std::optional(i); }));
    }
    return s;
  };
  return tir::rewrite(context, root, rewriter);
}

namespace {

/// The loads from memory in `e` that are the same in every iteration of a loop: not under a select, and with subscripts
/// that do not depend on `var`.
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

Stmt masked(Context& context, Stmt root, Var var, Expr condition) {
  tir::Builder build(context);
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
      names.push_back(context.var("common", load.dtype()));
      named[load] = names.back();
    }
    Stmt guarded =
        build.branch(condition, build.store(store->buffer, store->indices, arith::substitute(store->value, named)));
    for (size_t i = common.size(); i-- > 0;) guarded = build.let(names[i], common[i], guarded);
    return guarded;
  };
  return tir::rewrite(context, root, rewriter);
}

void add_view(Tree& tree, BufferRef view, BufferRef base) {
  tir::Builder build(tree.context());
  std::vector<const tir::View*> outer;
  Stmt s = tree.root();
  for (; s.as<tir::View>() != nullptr; s = s.as<tir::View>()->body) outer.push_back(s.as<tir::View>());
  bool inside = false;
  tir::Rewriter rewriter;
  rewriter.on_stmt = [&](Stmt inner) {
    const auto* alloc = inner.as<tir::Alloc>();
    if (alloc == nullptr || alloc->buffer != base) return inner;
    inside = true;
    return build.alloc(base, build.view(view, base, tree.context().index(0), alloc->body));
  };
  s = tir::rewrite(tree.context(), s, rewriter);
  if (!inside) s = build.view(view, base, tree.context().index(0), s);
  for (size_t i = outer.size(); i-- > 0;) s = build.view(outer[i]->buffer, outer[i]->base, outer[i]->byte_offset, s);
  tree.set_root(s);
}

void set_loop_kind(Tree& tree, uint32_t loop, tir::LoopKind kind) {
  tree.edit_loop(loop, [&](const For& from) {
    For to = from;
    to.loop_kind = kind;
    return make_stmt(tree.context(), std::move(to));
  });
}

int64_t known_divisor(const Tree& tree, uint32_t loop) {
  return arith::divisor(arith::simplify(tree.loop(loop).extent), tree.facts());
}

std::vector<const For*> perfect_nest(const Tree& tree, const std::vector<uint32_t>& loops) {
  std::vector<const For*> chain;
  auto wanted = [&](uint32_t id) { return std::find(loops.begin(), loops.end(), id) != loops.end(); };
  tir::for_each_stmt(tree.root(), [&](Stmt s) {
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

std::vector<const For*> loops_around(const Tree& tree, uint32_t id) {
  return loops_over(tree.root(), id);
}

bool is_inside_loop(const Tree& tree, uint32_t id, tir::LoopKind kind) {
  std::vector<const For*> around = loops_around(tree, id);
  if (tree.focused().whole)  // loops around all nests in focus
    if (const auto* outermost = first_loop(tree.focused().taken[0]))
      for (const For* outer : loops_over(tree.focused().whole, outermost->id)) around.push_back(outer);
  return std::any_of(around.begin(), around.end(), [&](const For* outer) { return outer->loop_kind == kind; });
}

arith::Facts facts_of_loops(Stmt root) {
  arith::Facts facts;
  tir::for_each_stmt(root, [&](Stmt s) {
    const auto* loop = s.as<For>();
    if (loop == nullptr || !loop->min.is_constant(0)) return;
    const int64_t* extent = loop->extent.constant();
    facts.bound(loop->var, {0, extent != nullptr ? std::max<int64_t>(*extent, 1) - 1 : INT64_MAX});
  });
  return facts;
}

Expr without_clamps(Expr e, Expr condition) {
  std::vector<Expr> known = arith::conjuncts(condition);
  auto holds = [&](auto fits) { return std::any_of(known.begin(), known.end(), fits); };
  auto at_least = [&](Expr p, Expr least) {
    return holds([&](Expr c) {
      const auto* le = c.as<arith::Le>();
      return le != nullptr && le->a == least && le->b == p;
    });
  };
  auto at_most = [&](Expr p, Expr most) {
    return holds([&](Expr c) {
      const auto* lt = c.as<arith::Lt>();
      return lt != nullptr && lt->a == p && arith::prove_equal(lt->b, most + 1);
    });
  };
  return arith::rewrite(e, [&](Expr node) {
    if (!node.dtype().is_index()) return node;
    if (const auto* most = node.as<arith::Max>()) {
      if (at_least(most->a, most->b)) return most->a;
      if (at_least(most->b, most->a)) return most->b;
    }
    if (const auto* least = node.as<arith::Min>()) {
      if (at_most(least->a, least->b)) return least->a;
      if (at_most(least->b, least->a)) return least->b;
    }
    return node;
  });
}

}  // namespace relaxc::schedule
