// pattern.cpp: reading access patterns from loop nests.
#include "compiler/analysis/pattern.h"

#include <algorithm>

#include "compiler/tir/visit.h"

namespace relaxc::analysis {
namespace {

using arith::Expr;

/// Calls `f` for every load in the nest's body (and init).
template <typename F>
void for_each_load(const Nest& nest, F f) {
  auto visit = [&](Expr e) {
    arith::for_each_node(e, [&](Expr node) {
      if (const auto* load = node.as<arith::Load>()) f(*load);
    });
  };
  visit(nest.store->value);
  for (Expr index : nest.store->indices) visit(index);
}

bool has_reduce_axis(const Nest& nest) {
  const auto& iters = nest.block->iters;
  return std::any_of(iters.begin(), iters.end(),
                     [](const tir::IterVar& i) { return i.iter_kind == tir::IterKind::kReduce; });
}

/// Every spatial axis subscripts the result, in order, and nothing else does.
bool writes_own_axes(const Nest& nest) {
  std::vector<Expr> axes;
  for (const tir::IterVar& iter : nest.block->iters)
    if (iter.iter_kind == tir::IterKind::kSpatial) axes.push_back(iter.var);
  return axes == nest.store->indices;
}

bool is_part_of_index(const arith::Load& load, const std::vector<Expr>& own) {
  size_t next = 0;
  for (Expr index : load.indices) {
    if (index.is_constant(0)) continue;
    while (next < own.size() && !(own[next] == index)) ++next;
    if (next++ >= own.size()) return false;
  }
  return true;
}

Pattern spatial_pattern(const Nest& nest) {
  Pattern pattern = Pattern::kElementwise;
  for_each_load(nest, [&](const arith::Load& load) {
    if (load.indices == nest.store->indices) return;
    bool part = is_part_of_index(load, nest.store->indices);
    pattern = std::max(pattern, part ? Pattern::kBroadcast : Pattern::kInjective);
  });
  return pattern;
}

bool is_init_of(const Nest& init, const Nest& nest) {
  bool constant = true;
  for_each_load(init, [&](const arith::Load&) { constant = false; });
  return constant && !has_reduce_axis(init) && init.store->buffer == nest.store->buffer;
}

}  // namespace

Nest as_nest(tir::Stmt s) {
  Nest nest;
  while (s) {
    if (const auto* loop = s.as<tir::For>()) {
      nest.loops.push_back(loop);
      s = loop->body;
      continue;
    }
    const auto* block = s.as<tir::Block>();
    const auto* store = block == nullptr ? nullptr : block->body.as<tir::Store>();
    if (store != nullptr && !block->predicate) nest.block = block, nest.store = store;
    return nest;
  }
  return nest;
}

KernelShape classify(const tir::PrimFunc& function) {
  std::vector<tir::Stmt> parts =
      function.body.as<tir::Seq>() ? function.body.as<tir::Seq>()->body : std::vector<tir::Stmt>{function.body};
  if (parts.empty() || parts.size() > 2) return {};
  Nest nest = as_nest(parts.back());
  if (nest.block == nullptr || !writes_own_axes(nest)) return {};
  if (!has_reduce_axis(nest)) {
    if (parts.size() != 1 || nest.block->init) return {};
    return {spatial_pattern(nest), nest};
  }
  if (parts.size() == 2) {
    Nest init = as_nest(parts[0]);
    if (init.block == nullptr || !is_init_of(init, nest)) return {};
  }
  return {Pattern::kReduction, nest};
}

bool reads_at_own_index(const Nest& nest, tir::BufferRef buffer) {
  bool own = true;
  for_each_load(nest, [&](const arith::Load& load) {
    if (load.buffer == buffer) own &= load.indices == nest.store->indices;
  });
  return own;
}

bool reads_each_once(const Nest& nest, tir::BufferRef buffer) {
  bool once = true;
  for_each_load(nest, [&](const arith::Load& load) {
    if (load.buffer != buffer) return;
    std::vector<Expr> axes;
    for (const tir::IterVar& iter : nest.block->iters)
      if (!iter.extent.is_constant(1)) axes.push_back(iter.var);
    for (Expr index : load.indices) std::erase(axes, index);
    once &= axes.empty();
  });
  return once;
}

}  // namespace relaxc::analysis
