// group.cpp: see group.h.
#include "compiler/schedule/analysis/group.h"

#include <algorithm>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/legality.h"
#include "compiler/schedule/analysis/nests.h"

namespace relaxc::schedule {

using analysis::Nest;

bool is_reduction(const Nest& nest) {
  if (nest.block == nullptr || !nest.block->init) return false;
  const auto* init = nest.block->init.as<tir::Store>();
  bool reduces = false, sums = true;  // false if a term goes to a place of its own
  for (const tir::IterVar& iter : nest.block->iters) {
    if (iter.iter_kind != tir::IterKind::kReduce) continue;
    reduces = true;
    for (Expr index : nest.store->indices) sums &= !depends_on(index, iter.var);
  }
  return reduces && sums && init != nullptr && init->buffer == nest.store->buffer &&
         init->indices == nest.store->indices;
}

namespace {

std::vector<const tir::IterVar*> spatial_axes(const Nest& nest) {
  std::vector<const tir::IterVar*> axes;
  for (const tir::IterVar& iter : nest.block->iters)
    if (iter.iter_kind == tir::IterKind::kSpatial) axes.push_back(&iter);
  return axes;
}

bool writes_own_axes(const Nest& nest) {
  auto axes = spatial_axes(nest);
  return std::equal(axes.begin(), axes.end(), nest.store->indices.begin(), nest.store->indices.end(),
                    [](const tir::IterVar* axis, Expr index) { return index == axis->var; });
}

}  // namespace

bool initializes(const Nest& fill, const Nest& reduction) {
  if (fill.block == nullptr || fill.block->init || !writes_own_axes(fill) || !writes_own_axes(reduction)) return false;
  const auto* init = reduction.block->init.as<tir::Store>();
  if (init == nullptr || fill.store->buffer != init->buffer || !(fill.store->value == init->value)) return false;
  auto own = spatial_axes(fill), axes = spatial_axes(reduction);
  if (own.size() != axes.size()) return false;
  for (size_t i = 0; i < init->indices.size(); ++i) {
    bool same = i < own.size() ? arith::prove_equal(own[i]->extent, axes[i]->extent)
                               : arith::prove_equal(fill.store->indices[i], init->indices[i]);
    if (!same) return false;
  }
  return true;
}

bool joins(const Nest& nest, const Nest& reduction, const std::vector<BufferRef>& results) {
  if (nest.block == nullptr || nest.block->init || !is_normal(nest) || !writes_own_axes(nest)) return false;
  if (!writes_own_axes(reduction)) return false;
  auto own = spatial_axes(nest), axes = spatial_axes(reduction);
  if (own.size() != nest.loops.size() || own.size() != axes.size() || own.empty()) return false;
  for (size_t a = 0; a < own.size(); ++a) {
    if (!arith::prove_equal(own[a]->extent, axes[a]->extent)) return false;
    if (!(own[a]->binding == nest.loops[a]->var)) return false;
  }
  bool fresh = std::find(results.begin(), results.end(), nest.store->buffer) == results.end();
  for (BufferRef result : results) fresh &= analysis::reads_at_own_index(nest, result);
  // The nest must not overwrite what the reduction reads while it runs.
  return fresh && !is_used(Stmt(reduction.block), nest.store->buffer);
}

std::vector<Stmt> ReductionGroup::statements() const {
  std::vector<Stmt> all{reduction};
  all.insert(all.end(), consumers.begin(), consumers.end());
  return all;
}

std::optional<ReductionGroup> group_in(const Tree& s) {
  const auto* seq = s.root().as<tir::Seq>();
  return group_of(s, seq != nullptr ? seq->body : std::vector<Stmt>{s.root()});
}

std::optional<ReductionGroup> group_of(const Tree& s, const std::vector<Stmt>& all) {
  std::vector<Stmt> parts = all;
  auto is_start = [](Stmt part) {
    const Nest nest = analysis::as_nest(part);
    return is_reduction(nest) && is_normal(nest);
  };
  if (parts.size() > 1 && !is_start(parts[0]) && is_start(parts[1]) &&
      initializes(analysis::as_nest(parts[0]), analysis::as_nest(parts[1])))
    parts.erase(parts.begin());
  if (!is_start(parts[0])) return {};
  ReductionGroup group{parts[0], {}, {}};
  const Nest reduction = analysis::as_nest(parts[0]);
  std::vector<BufferRef> results{reduction.store->buffer};
  for (size_t i = 1; i < parts.size(); ++i) {
    const Nest nest = analysis::as_nest(parts[i]);
    if (!joins(nest, reduction, results)) return {};
    group.consumers.push_back(parts[i]);
    results.push_back(nest.store->buffer);
  }
  for (BufferRef result : results)
    if (s.is_non_escaping(result, all)) group.non_escaping.push_back(result);
  return group;
}

}  // namespace relaxc::schedule
