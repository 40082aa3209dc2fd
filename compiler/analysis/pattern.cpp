// pattern.cpp: reads access patterns from loop nests.
#include "compiler/analysis/pattern.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/arith/simplify.h"
#include "compiler/tir/visit.h"

namespace relaxc::analysis {
namespace {

using arith::Expr;

/// Calls `f` for every load in the value and the subscripts that the nest stores.
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

/// Returns whether the subscripts of the result are exactly the spatial axes, in order.
bool writes_own_axes(const Nest& nest) {
  std::vector<Expr> axes;
  for (const tir::IterVar& iter : nest.block->iters)
    if (iter.iter_kind == tir::IterKind::kSpatial) axes.push_back(iter.var);
  return axes == nest.store->indices;
}

/// Returns whether a load reads the element that the nest writes: subscripts agree, or are 0 in a dim of one element.
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

/// Returns whether every subscript of `buffer` is 0 or a single axis after `known` is substituted.
bool reads_along(const Nest& nest, tir::BufferRef buffer, const arith::Substitution& known) {
  bool along = true;
  for_each_load(nest, [&](const arith::Load& load) {
    if (load.buffer != buffer) return;
    for (Expr index : load.indices) {
      Expr left = arith::substitute(index, known);
      along &= left.is_constant(0) || left.as<arith::VarNode>() != nullptr;
    }
  });
  return along;
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

bool costs_much(arith::Intrinsic intrinsic) {
  using arith::Intrinsic;
  switch (intrinsic) {
    case Intrinsic::k_abs:
    case Intrinsic::k_floor:
    case Intrinsic::k_ceil:
    case Intrinsic::k_trunc:
    case Intrinsic::k_round:
    case Intrinsic::k_fma:
    case Intrinsic::k_bitcast:
    case Intrinsic::k_isnan:
    case Intrinsic::k_isinf:
      return false;
    default:
      return true;
  }
}

template <typename F>
void for_each_part(const KernelShape& shape, F f) {
  for (tir::Stmt part : shape.before) f(as_nest(part));
  f(shape.nest);
}

/// Returns how many leading dims a nest keeps that sums over all dims after them; 0 if it is no such sum.
size_t rows_of_sum(const Nest& nest) {
  const std::vector<Expr>& own = nest.store->indices;
  size_t rows = own.size();
  for_each_load(nest, [&](const arith::Load& load) {
    if (load.buffer == nest.store->buffer) return;
    size_t same = 0;
    while (same < rows && same < load.indices.size() && load.indices[same] == own[same]) ++same;
    rows = std::min(rows, same);
  });
  for (size_t i = rows; i < own.size(); ++i)
    if (!nest.store->buffer->shape[i].is_constant(1)) return 0;
  return rows == own.size() ? 0 : rows;
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

std::vector<tir::Stmt> parts_of(const tir::PrimFunc& function, std::vector<tir::BufferRef>& temporaries) {
  tir::Stmt body = function.body;
  while (const auto* alloc = body.as<tir::Alloc>()) {
    temporaries.push_back(alloc->buffer);
    body = alloc->body;
  }
  return body.as<tir::Seq>() ? body.as<tir::Seq>()->body : std::vector<tir::Stmt>{body};
}

KernelShape classify(const tir::PrimFunc& function) {
  KernelShape shape;
  std::vector<tir::Stmt> parts = parts_of(function, shape.temporaries);
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

bool cheap(Expr value) {
  int loads = 0;
  bool fine = true;
  arith::for_each_node(value, [&](Expr node) {
    loads += node.as<arith::Load>() != nullptr;
    if (node.as<arith::Div>() != nullptr && node.dtype().is_float()) fine = false;
    if (const auto* call = node.as<arith::Call>()) fine &= !costs_much(call->intrinsic);
  });
  return fine && loads <= 2;
}

std::optional<size_t> rows_of_sums(const KernelShape& shape) {
  std::optional<size_t> rows;
  for_each_part(shape, [&](const Nest& nest) {
    if (!has_reduce_axis(nest)) return;
    size_t own = rows_of_sum(nest);
    rows = rows ? std::min(*rows, own) : own;
  });
  return rows;
}

bool reads_own_rows(const KernelShape& shape, tir::BufferRef buffer, size_t rows) {
  bool own = true;
  for_each_part(shape, [&](const Nest& nest) {
    const std::vector<Expr>& here = nest.store->indices;
    for_each_load(nest, [&](const arith::Load& load) {
      if (load.buffer != buffer) return;
      own &= load.indices.size() == here.size() && rows < here.size();
      for (size_t i = 0; own && i < rows; ++i) {
        bool single = buffer->shape[i].is_constant(1) && nest.store->buffer->shape[i].is_constant(1);
        own = single || load.indices[i] == here[i];
      }
    });
  });
  return own;
}

size_t reductions(const KernelShape& shape) {
  size_t count = 0;
  for_each_part(shape, [&](const Nest& nest) { count += has_reduce_axis(nest); });
  return count;
}

size_t nests_reading(const KernelShape& shape, tir::BufferRef buffer) {
  size_t count = 0;
  for_each_part(shape, [&](const Nest& nest) {
    bool reads = false;
    for_each_load(nest, [&](const arith::Load& load) { reads |= load.buffer == buffer; });
    count += reads;
  });
  return count;
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

bool maps_elements(const Nest& nest) {
  if (has_reduce_axis(nest) || nest.block->init || !writes_own_axes(nest)) return false;
  const std::vector<Expr>& own = nest.store->indices;
  bool aligned = true;
  for_each_load(nest, [&](const arith::Load& load) {
    aligned &= load.indices.size() <= own.size();
    for (size_t i = 0; aligned && i < load.indices.size(); ++i) {
      bool repeated = load.buffer->shape[i].is_constant(1) && load.indices[i].is_constant(0);
      aligned = repeated || load.indices[i] == own[own.size() - load.indices.size() + i];
    }
  });
  if (!aligned) return false;
  std::vector<Expr> waiting{nest.store->value};
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

bool permutes(const Nest& nest) {
  const auto* load = nest.store->value.as<arith::Load>();
  if (load == nullptr) return false;
  std::vector<Expr> axes = nest.store->indices;
  for (size_t i = 0; i < load->indices.size(); ++i) {
    if (load->buffer->shape[i].is_constant(1) && load->indices[i].is_constant(0)) continue;
    if (std::erase(axes, load->indices[i]) != 1) return false;
  }
  return true;
}

bool keeps_last_axis(const Nest& nest) {
  const auto* load = nest.store->value.as<arith::Load>();
  return load != nullptr && !load->indices.empty() && load->indices.back() == nest.store->indices.back();
}

bool picks_rows(const Nest& nest) {
  const auto* load = nest.store->value.as<arith::Load>();
  const std::vector<Expr>& own = nest.store->indices;
  if (load == nullptr || own.size() < 2 || load->indices.size() != own.size() || !(load->indices.back() == own.back()))
    return false;
  for (size_t i = 0; i < own.size(); ++i) {
    Expr index = load->indices[i], next = arith::substitute(index, {{own[i], own[i] + 1}});
    std::vector<arith::Var> vars = arith::free_vars(index);
    bool linear = vars.size() == 1 && vars[0] == own[i] && arith::simplify(next - index).constant() != nullptr;
    if (!linear && !index.is_constant(0)) return false;
  }
  return true;
}

bool reads_along_axes(const Nest& nest, tir::BufferRef buffer) {
  return reads_along(nest, buffer, {});
}

bool reads_along_wide_axes(const Nest& nest, tir::BufferRef buffer) {
  arith::Substitution units;
  for (const tir::IterVar& iter : nest.block->iters)
    if (iter.extent.is_constant(1)) units[iter.var] = iter.var.context().index(0);
  return reads_along(nest, buffer, units);
}

std::vector<tir::BufferRef> multiplied_operands(const tir::PrimFunc& function) {
  std::vector<tir::BufferRef> params = buffer_params(function), found;
  auto read_by = [&](Expr e) {
    std::vector<tir::BufferRef> read;
    arith::for_each_node(e, [&](Expr node) {
      const auto* load = node.as<arith::Load>();
      bool param = load != nullptr && std::find(params.begin(), params.end(), load->buffer) != params.end();
      if (param) read.push_back(load->buffer);
    });
    return read;
  };
  auto note = [&](Expr e) {
    arith::for_each_node(e, [&](Expr node) {
      const auto* product = node.as<arith::Mul>();
      if (product == nullptr || !node.dtype().is_float()) return;
      std::vector<tir::BufferRef> left = read_by(product->a), right = read_by(product->b);
      if (left.size() != 1 || right.size() != 1 || left == right) return;
      for (tir::BufferRef buffer : {left[0], right[0]})
        if (std::find(found.begin(), found.end(), buffer) == found.end()) found.push_back(buffer);
    });
  };
  tir::for_each_stmt(function.body, [&](tir::Stmt s) {
    Nest nest = as_nest(s);
    if (s.as<tir::Block>() != nullptr && nest.block != nullptr && has_reduce_axis(nest)) note(nest.store->value);
  });
  return found;
}

std::optional<int64_t> readers_of_each(const Nest& nest, tir::BufferRef buffer) {
  std::unordered_set<Expr> used;
  for_each_load(nest, [&](const arith::Load& load) {
    if (load.buffer == buffer)
      for (Expr index : load.indices)
        for (arith::Var var : arith::free_vars(index)) used.insert(var);
  });
  int64_t count = 1;
  for (const tir::IterVar& iter : nest.block->iters) {
    if (iter.iter_kind != tir::IterKind::kSpatial || used.count(iter.var) != 0) continue;
    const int64_t* extent = iter.extent.constant();
    if (extent == nullptr || __builtin_mul_overflow(count, *extent, &count)) return std::nullopt;
  }
  return count;
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
