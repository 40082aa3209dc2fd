// rows.cpp: expresses subscripts in terms of loops.
//
// A nest's loops are those that are perfectly nested; what is inside of them (the scan for the index of a maximum) may
// be anything. Subscripts in terms of a block's axes are first expressed in terms of loops.
#include "compiler/analysis/rows.h"

#include <algorithm>

#include "compiler/analysis/pattern.h"
#include "compiler/tir/visit.h"

namespace relaxc::analysis {
namespace {

using arith::Expr;

struct Access {
  tir::BufferRef buffer = nullptr;
  std::vector<Expr> indices;
  bool is_store = false;
};

/// One of the consecutive statements of a kernel.
struct Part {
  std::vector<const tir::For*> loops;
  std::vector<Access> accesses;
  bool element_by_element = false;
};

Part read_part(tir::Stmt part) {
  Part found;
  Nest nest = as_nest(part);
  auto reduces = [](const tir::IterVar& i) { return i.iter_kind != tir::IterKind::kSpatial; };
  found.element_by_element =
      nest.block != nullptr && std::none_of(nest.block->iters.begin(), nest.block->iters.end(), reduces);
  found.loops = nest.loops;
  arith::Substitution axes;
  auto note = [&](tir::BufferRef buffer, std::vector<Expr> indices, bool is_store) {
    for (Expr& index : indices) index = arith::substitute(index, axes);
    found.accesses.push_back({buffer, std::move(indices), is_store});
  };
  tir::for_each_stmt(part, [&](tir::Stmt s) {
    if (const auto* block = s.as<tir::Block>())  // parents are visited first
      for (const tir::IterVar& iter : block->iters) axes[iter.var] = arith::substitute(iter.binding, axes);
    if (const auto* store = s.as<tir::Store>()) note(store->buffer, store->indices, true);
    for (Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](Expr node) {
        if (const auto* load = node.as<arith::Load>()) note(load->buffer, load->indices, false);
      });
  });
  return found;
}

/// Returns how many leading subscripts are the outermost loops; a loop of one iteration fits a dim of one element.
size_t leading_rows(const Part& part, const Access& access) {
  size_t rows = 0, most = std::min(access.indices.size(), part.loops.size());
  auto is_loop = [&](size_t i) {
    bool one = access.buffer->shape[i].is_constant(1) && part.loops[i]->extent.is_constant(1);
    return one || access.indices[i] == Expr(part.loops[i]->var);
  };
  while (rows < most && is_loop(rows)) ++rows;
  return rows;
}

bool holds(const std::vector<tir::BufferRef>& list, tir::BufferRef buffer) {
  return std::find(list.begin(), list.end(), buffer) != list.end();
}

}  // namespace

size_t common_rows(const tir::PrimFunc& function, const std::vector<tir::BufferRef>& buffers,
                   const std::vector<tir::BufferRef>& results) {
  std::vector<tir::BufferRef> temporaries;
  size_t rows = SIZE_MAX;
  for (tir::Stmt s : parts_of(function, temporaries)) {
    Part part = read_part(s);
    for (const Access& access : part.accesses) {
      bool counts = holds(buffers, access.buffer) || holds(results, access.buffer) || holds(temporaries, access.buffer);
      if (counts) rows = std::min(rows, leading_rows(part, access));
    }
  }
  return rows == SIZE_MAX ? 0 : rows;
}

bool reduces_within_rows(const tir::PrimFunc& function, const std::vector<tir::BufferRef>& results, size_t rows) {
  std::vector<tir::BufferRef> temporaries;
  for (tir::Stmt s : parts_of(function, temporaries)) {
    Part part = read_part(s);
    if (part.element_by_element) continue;
    for (const Access& access : part.accesses) {
      if (!access.is_store || (!holds(results, access.buffer) && !holds(temporaries, access.buffer))) continue;
      for (size_t i = rows; i < access.indices.size(); ++i)
        if (!access.buffer->shape[i].is_constant(1)) return false;
    }
  }
  return true;
}

bool reads_in_full(const tir::PrimFunc& function, tir::BufferRef buffer) {
  std::vector<tir::BufferRef> temporaries;
  for (tir::Stmt s : parts_of(function, temporaries)) {
    Part part = read_part(s);
    for (const Access& access : part.accesses) {
      if (access.is_store || access.buffer != buffer) continue;
      std::vector<Expr> used;
      for (Expr index : access.indices)
        for (Expr var : arith::free_vars(index)) used.push_back(var);
      bool full = std::all_of(part.loops.begin(), part.loops.end(), [&](const tir::For* loop) {
        return loop->extent.is_constant(1) || std::find(used.begin(), used.end(), Expr(loop->var)) != used.end();
      });
      if (full) return true;
    }
  }
  return false;
}

}  // namespace relaxc::analysis
