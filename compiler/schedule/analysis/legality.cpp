// legality.cpp: see legality.h.
//
// The test for reordering asks the test for parallel loops about each loop of the nest as if it were the outermost one:
// if two of its iterations never access the same element, whatever the other loops do, no dependence crosses it, and it
// may be at any position. All dependences are then among the remaining loops, whose order stays.
#include "compiler/schedule/analysis/legality.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

using tir::For;

bool is_plain(Stmt root) {
  bool plain = true;
  tir::for_each_stmt(root, [&](Stmt s) {
    switch (s->kind) {
      case tir::StmtKind::kWhile:
      case tir::StmtKind::kBreak:
      case tir::StmtKind::kContinue:
      case tir::StmtKind::kGuard:
      case tir::StmtKind::kInvoke:
        plain = false;
        break;
      default:
        break;
    }
  });
  return plain;
}

bool may_run_together(Stmt root, const For& loop) {
  const int64_t* extent = loop.extent.constant();
  if (loop.annotations.count(kIndependent) != 0) return true;
  return (extent != nullptr && *extent <= 1 && is_plain(loop.body)) || has_independent_iterations(root, loop);
}

namespace {

/// The results of reductions that are marked for reassociation or in the block `marked`, if each is combined by one
/// operation only and nothing else in `s` accesses it.
std::set<BufferRef> reassociable(Stmt root, Stmt s, uint32_t marked) {
  std::map<BufferRef, BufferRef> bases;  // looked up only
  tir::for_each_stmt(root, [&](Stmt inner) {
    if (const auto* view = inner.as<tir::View>()) bases[view->buffer] = view->base;
  });
  std::map<BufferRef, arith::ExprKind> sums;
  std::set<BufferRef> others;  // these three are never iterated
  std::set<const tir::StmtNode*> updates;
  tir::for_each_stmt(s, [&](Stmt inner) {
    const auto* block = inner.as<tir::Block>();
    const auto* store = block == nullptr ? nullptr : block->body.as<tir::Store>();
    if (store == nullptr || block->init) return;
    if (block->id != marked && block->annotations.count("reassociate") == 0) return;
    const Update update = update_of(*store);
    if (!update.value || bases.count(store->buffer) != 0) return;
    if (sums.try_emplace(store->buffer, update.kind).first->second != update.kind) others.insert(store->buffer);
    updates.insert(block->body.node());
    for_each_access(block->body, [&](const Access& access) {
      if (access.buffer != store->buffer) others.insert(access.buffer);
    });
  });
  tir::for_each_stmt(s, [&](Stmt inner) {
    if (updates.count(inner.node()) == 0 && tir::children(inner).empty())
      for_each_access(inner, [&](const Access& access) { others.insert(access.buffer); });
  });
  std::set<BufferRef> alone;
  for (const auto& [sum, kind] : sums) alone.insert(sum);
  for (BufferRef other : others) {
    while (bases.count(other) != 0 && bases.at(other) != nullptr) other = bases.at(other);
    alone.erase(other);
  }
  return alone;
}

/// Whether two iterations of this loop never access the same element, whatever the other loops of the nest do.
bool is_free(Context& context, Stmt root, const std::vector<const For*>& chain, size_t which,
             const std::set<BufferRef>& sums) {
  if (const int64_t* extent = chain[which]->extent.constant(); extent != nullptr && *extent <= 1) return true;
  Stmt body = chain.back()->body;
  for (size_t i = chain.size(); i-- > 0;) {
    if (i == which) continue;
    For inner = *chain[i];
    inner.body = body;
    body = make_stmt(context, std::move(inner));
  }
  For outermost = *chain[which];
  outermost.body = body;
  return has_independent_iterations(root, outermost, sums);
}

/// Whether bounds of each loop depend only on loops that are outside of it in this order, and all iterations complete.
bool is_nested(const std::vector<const For*>& chain, const std::vector<size_t>& order) {
  for (size_t outer = 0; outer < order.size(); ++outer)
    for (size_t inner = outer; inner < order.size(); ++inner) {
      const For &first = *chain[order[outer]], &later = *chain[order[inner]];
      if (depends_on(first.extent, later.var) || depends_on(first.min, later.var)) return false;
    }
  return is_plain(chain.back()->body);
}

}  // namespace

bool may_reorder(Context& context, Stmt root, const std::vector<const For*>& chain, const std::vector<size_t>& order,
                 uint32_t marked) {
  if (!is_nested(chain, order)) return false;
  for (const std::set<BufferRef>& sums : {std::set<BufferRef>{}, reassociable(root, chain.back()->body, marked)}) {
    std::vector<size_t> tied;  // in their new order
    for (size_t i : order)
      if (!is_free(context, root, chain, i, sums)) tied.push_back(i);
    if (std::is_sorted(tied.begin(), tied.end())) return true;
  }
  return false;
}

bool are_independent(Context& context, Stmt root, const std::vector<const For*>& chain) {
  if (!is_plain(chain.back()->body)) return false;
  for (size_t i = 0; i < chain.size(); ++i)
    if (!is_free(context, root, chain, i, {})) return false;
  return true;
}

bool is_used(Stmt s, BufferRef buffer) {
  bool used = false;
  for_each_access(s, [&](const Access& access) { used |= access.buffer == buffer; });
  tir::for_each_stmt(s, [&](Stmt inner) {
    if (const auto* view = inner.as<tir::View>()) used |= view->base == buffer;
    if (const auto* invoke = inner.as<tir::Invoke>())
      for (const tir::Argument& arg : invoke->args)
        if (const auto* passed = std::get_if<BufferRef>(&arg)) used |= *passed == buffer;
  });
  return used;
}

FirstUse first_use(Stmt s, BufferRef buffer) {
  bool used = false;
  for_each_access(s, [&](const Access& access) { used |= access.buffer == buffer; });
  if (!used) return FirstUse::kNone;
  bool read_here = false;
  for (Expr e : tir::expressions(s))
    arith::for_each_node(e, [&](Expr node) {
      const auto* load = node.as<arith::Load>();
      read_here |= load != nullptr && load->buffer == buffer;
    });
  if (read_here) return FirstUse::kOther;
  if (s.as<tir::Store>() != nullptr) return FirstUse::kStore;
  if (s.as<tir::If>() != nullptr || s.as<tir::While>() != nullptr) return FirstUse::kOther;
  if (const auto* block = s.as<tir::Block>(); block != nullptr && (block->init || block->predicate))
    return FirstUse::kOther;
  if (const auto* loop = s.as<For>()) {
    const int64_t* extent = loop->extent.constant();
    if (extent == nullptr || *extent < 1) return FirstUse::kOther;
  }
  for (Stmt child : tir::children(s))
    if (FirstUse use = first_use(child, buffer); use != FirstUse::kNone) return use;
  return FirstUse::kOther;
}

bool uses_variable_of(Expr e, Stmt root) {
  std::unordered_set<Expr> bound;
  tir::for_each_stmt(root, [&](Stmt s) {
    if (const auto* loop = s.as<For>()) bound.insert(loop->var);
    if (const auto* let = s.as<tir::Let>()) bound.insert(let->var);
    if (const auto* block = s.as<tir::Block>())
      for (const tir::IterVar& iter : block->iters) bound.insert(iter.var);
  });
  bool found = false;
  arith::for_each_node(e, [&](Expr node) { found |= bound.count(node) != 0; });
  return found;
}

}  // namespace relaxc::schedule
