// widened_words.cpp: see widened_words.h.
#include "compiler/schedule/primitives/widened_words.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/primitives/scratch_copy.h"
#include "compiler/schedule/tree/names.h"
#include "compiler/tir/dot_word.h"

namespace relaxc::schedule {

using tir::Indices;

namespace {

/// Maps locals that hold loaded elements or vectors (stage_loads) to the buffers that these are loaded from.
std::map<BufferRef, BufferRef> staged_in(Stmt s) {
  std::map<BufferRef, BufferRef> found;
  tir::for_each_stmt(s, [&](Stmt inner) {
    const auto* store = inner.as<tir::Store>();
    const auto* load = store != nullptr ? store->value.as<arith::Load>() : nullptr;
    if (load != nullptr && store->buffer->scope == tir::Scope::kLocal) found[store->buffer] = load->buffer;
  });
  return found;
}

/// Whether `e` is a sum of products of variables and numbers, so that loops make it take its minimum and maximum.
bool is_affine(Expr e) {
  bool affine = true;
  arith::for_each_node(e, [&](Expr node) {
    affine &= node.as<arith::VarNode>() != nullptr || node.constant() != nullptr || node.as<arith::Add>() != nullptr ||
              node.as<arith::Sub>() != nullptr || node.as<arith::Mul>() != nullptr;
  });
  return affine;
}

bool reads(Expr e, BufferRef buffer) {
  bool found = false;
  arith::for_each_node(e, [&](Expr node) {
    const auto* load = node.as<arith::Load>();
    found |= load != nullptr && load->buffer == buffer;
  });
  return found;
}

/// Whether a condition, or a loop that may have no iterations, decides if `s` reads the buffer.
bool reads_at_times(Stmt s, BufferRef buffer) {
  bool found = false;
  tir::for_each_stmt(s, [&](Stmt inner) {
    const auto* loop = inner.as<tir::For>();
    const int64_t* extent = loop != nullptr ? loop->extent.constant() : nullptr;
    const bool decides = inner.as<tir::If>() != nullptr || (loop != nullptr && (extent == nullptr || *extent < 1));
    found |= decides && reads_of(inner, buffer) != 0;
    for (Expr e : tir::expressions(inner))
      arith::for_each_node(e, [&](Expr node) { found |= node.as<arith::Select>() != nullptr && reads(node, buffer); });
  });
  return found;
}

/// Whether `s` always reads the first and the last element of the box in each dim.
bool reads_whole(Stmt s, BufferRef buffer, const Region& region) {
  bool whole = !reads_at_times(s, buffer);
  for_each_access(s, [&](const Access& access) {
    for (size_t dim = 0; access.buffer == buffer && dim < access.indices.size(); ++dim)
      whole &= is_affine(arith::simplify(access.indices[dim] - region.begin[dim]));
  });
  return whole;
}

/// Whether all elements of the box exist in the buffer.
bool exists(const Tree& tree, Stmt around, BufferRef buffer, const Region& region) {
  if (reads_whole(around, buffer, region)) return true;
  arith::Facts facts = facts_of_loops(tree.root());
  Indices first, last;
  for (size_t dim = 0; dim < region.begin.size(); ++dim) {
    first.push_back(region.begin[dim]);
    last.push_back(arith::simplify(region.begin[dim] + (region.extent[dim] - 1)));
  }
  return !inside(buffer, first, facts) && !inside(buffer, last, facts);
}

}  // namespace

std::optional<arith::Dot4> dot_of_bytes(Expr e, BufferRef bytes) {
  const std::optional<arith::Dot4> dot = arith::as_dot4(e);
  const arith::Load* first = dot && dot->a[3] ? tir::word_of(*dot) : nullptr;
  const bool reads = first != nullptr && first->buffer == bytes && dot->b.as<arith::Load>() != nullptr;
  return reads ? dot : std::nullopt;
}

BufferRef words_of_bytes(Stmt s, BufferRef bytes) {
  std::set<BufferRef> found;
  const std::map<BufferRef, BufferRef> staged = staged_in(s);
  tir::for_each_stmt(s, [&](Stmt inner) {
    for (Expr e : tir::expressions(inner))
      arith::for_each_node(e, [&](Expr node) {
        const auto dot = dot_of_bytes(node, bytes);
        if (!dot) return;
        const BufferRef read = dot->b.as<arith::Load>()->buffer;
        const auto from = staged.find(read);
        found.insert(from == staged.end() ? read : from->second);
      });
  });
  return found.size() == 1 ? *found.begin() : nullptr;
}

size_t reads_of(Stmt s, BufferRef buffer) {
  size_t count = 0;
  for_each_access(s, [&](const Access& access) { count += access.buffer == buffer ? 1 : 0; });
  return count;
}

Legal<Region> copyable_bytes(const Tree& tree, BufferRef buffer, uint32_t loop) {
  const Stmt around(&tree.loop(loop));
  RELAXC_STEP(const Region region, is_cacheable(tree, buffer, loop));
  RELAXC_REQUIRE(!is_stored(tree, is_inside_loop(tree, loop, tir::LoopKind::kParallel) ? tree.root() : around, buffer),
                 fmt::format("{} is stored to while loop '{}' runs", buffer->name, loop_name(tree, loop)));
  RELAXC_REQUIRE(
      exists(tree, around, buffer, region),
      fmt::format("a part of what loop '{}' reads may be outside of {}", loop_name(tree, loop), buffer->name));
  return region;
}

}  // namespace relaxc::schedule
