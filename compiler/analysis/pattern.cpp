// pattern.cpp: reading access patterns from loop nests.
#include "compiler/analysis/pattern.h"

#include <algorithm>
#include <unordered_set>

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

/// The same element for every point: subscripts agree, or the dim has one element and both can only be 0.
bool is_own_index(const arith::Load& load, const std::vector<Expr>& own) {
  if (load.indices.size() != own.size()) return false;
  for (size_t i = 0; i < own.size(); ++i) {
    bool single = load.buffer->shape[i].is_constant(1);
    if (!(load.indices[i] == own[i]) && !(single && load.indices[i].is_constant(0))) return false;
  }
  return true;
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
    if (is_own_index(load, nest.store->indices)) return;
    bool part = is_part_of_index(load, nest.store->indices);
    pattern = std::max(pattern, part ? Pattern::kBroadcast : Pattern::kInjective);
  });
  return pattern;
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
  KernelShape shape;
  tir::Stmt body = function.body;
  while (const auto* alloc = body.as<tir::Alloc>()) {
    shape.temporaries.push_back(alloc->buffer);
    body = alloc->body;
  }
  std::vector<tir::Stmt> parts = body.as<tir::Seq>() ? body.as<tir::Seq>()->body : std::vector<tir::Stmt>{body};
  if (parts.empty()) return {};
  for (tir::Stmt part : parts)
    if (as_nest(part).block == nullptr) return {};
  shape.last = parts.back();
  shape.nest = as_nest(shape.last);
  if (!writes_own_axes(shape.nest)) return {};
  shape.before.assign(parts.begin(), parts.end() - 1);
  shape.reduces = has_reduce_axis(shape.nest);
  if (!shape.reduces && shape.nest.block->init) return {};
  bool alone = shape.before.empty() && shape.temporaries.empty();
  shape.pattern = alone && !shape.reduces ? spatial_pattern(shape.nest) : Pattern::kReduction;
  return shape;
}

std::vector<tir::BufferRef> buffer_params(const tir::PrimFunc& function) {
  std::vector<tir::BufferRef> buffers;
  for (const tir::Param& param : function.params)
    if (param.buffer != nullptr) buffers.push_back(param.buffer);
  return buffers;
}

std::vector<arith::Var> scalar_params(const tir::PrimFunc& function) {
  std::vector<arith::Var> scalars;
  for (const tir::Param& param : function.params)
    if (param.buffer == nullptr) scalars.push_back(param.var);
  return scalars;
}

bool reads_at_own_index(const Nest& nest, tir::BufferRef buffer) {
  bool own = true;
  for_each_load(nest, [&](const arith::Load& load) {
    if (load.buffer == buffer) own &= is_own_index(load, nest.store->indices);
  });
  return own;
}

bool maps_elements(const KernelShape& shape) {
  if (!shape.spatial()) return false;
  const std::vector<Expr>& own = shape.nest.store->indices;
  bool aligned = true;
  for_each_load(shape.nest, [&](const arith::Load& load) {
    aligned &= load.indices.size() <= own.size();
    for (size_t i = 0; aligned && i < load.indices.size(); ++i) {
      bool repeated = load.buffer->shape[i].is_constant(1) && load.indices[i].is_constant(0);
      aligned = repeated || load.indices[i] == own[own.size() - load.indices.size() + i];
    }
  });
  if (!aligned) return false;
  std::vector<Expr> waiting{shape.nest.store->value};
  std::unordered_set<Expr> seen;
  while (!waiting.empty()) {
    Expr e = waiting.back();
    waiting.pop_back();
    if (!seen.insert(e).second || e.as<arith::Load>() != nullptr) continue;
    if (std::find(own.begin(), own.end(), e) != own.end()) return false;
    for (Expr operand : arith::operands(e)) waiting.push_back(operand);
  }
  return true;
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
