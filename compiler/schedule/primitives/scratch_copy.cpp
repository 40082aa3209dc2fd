// scratch_copy.cpp: see scratch_copy.h.
#include "compiler/schedule/primitives/scratch_copy.h"

#include <fmt/format.h>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/legality.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::For;
using tir::Indices;

namespace {

/// Whether `s` accesses the memory of `buffer` only by loads and stores of this buffer.
bool is_accessed_plainly(const Tree& s, Stmt stmt, BufferRef buffer) {
  bool plain = is_plain(stmt) && buffer->scope != tir::Scope::kLocal;
  const BufferRef memory = s.memory_of(buffer);
  for_each_access(
      stmt, [&](const Access& access) { plain &= access.buffer == buffer || s.memory_of(access.buffer) != memory; });
  tir::for_each_stmt(stmt, [&](Stmt inner) {
    const auto* view = inner.as<tir::View>();
    plain &= view == nullptr || s.memory_of(view->base) != memory;
    for (Expr e : tir::expressions(inner))
      arith::for_each_node(e, [&](Expr node) {
        const auto* load = node.as<arith::Load>();
        plain &= load == nullptr || load->buffer != buffer || load->dtype == buffer->dtype;
      });
  });
  return plain;
}

}  // namespace

bool is_stored(const Tree& s, Stmt stmt, BufferRef buffer) {
  bool stored = false;
  for_each_access(stmt, [&](const Access& access) {
    stored |= access.is_store && s.memory_of(access.buffer) == s.memory_of(buffer);
  });
  return stored;
}

Legal<Region> is_cacheable(const Tree& tree, BufferRef buffer, uint32_t loop_id) {
  const Stmt around(&tree.loop(loop_id));
  RELAXC_REQUIRE(tree.may_allocate(), "the kernel has no scratch memory");
  RELAXC_REQUIRE(!is_inside_loop(tree, loop_id, tir::LoopKind::kVectorized),
                 fmt::format("loop '{}' runs in lanes", loop_name(tree, loop_id)));
  RELAXC_REQUIRE(is_accessed_plainly(tree, around, buffer),
                 fmt::format("loop '{}' accesses the memory of {} in another way than by its elements, too",
                             loop_name(tree, loop_id), buffer->name));
  std::optional<Region> region = region_of(around, buffer);
  RELAXC_REQUIRE(region.has_value(), fmt::format("it is not known which part of {} loop '{}' accesses", buffer->name,
                                                 loop_name(tree, loop_id)));
  return *std::move(region);
}

BufferRef cache_of(Tree& tree, BufferRef buffer, const Region& region) {
  tir::Builder build(tree.context());
  std::vector<Expr> shape;
  for (int64_t extent : region.extent) shape.push_back(tree.context().index(extent));
  return build.buffer(buffer->name + "_cache", buffer->dtype, std::move(shape), tir::Scope::kGlobal,
                      tir::kMemoryAlignment);
}

Stmt through(Tree& tree, BufferRef cache, Stmt s, BufferRef buffer, const Region& region) {
  return redirect(tree.context(), s, buffer, cache, [&](const Indices& from) {
    Indices to;
    for (size_t dim = 0; dim < from.size(); ++dim) to.push_back(arith::simplify(from[dim] - region.begin[dim]));
    return std::optional(to);
  });
}

Stmt copy_between(Tree& tree, BufferRef buffer, BufferRef cache, const Region& region, bool to_cache) {
  tir::Builder build(tree.context());
  arith::Facts facts = facts_of_loops(tree.root());
  const Expr zero = tree.context().index(0);
  std::vector<Var> own;
  Indices there, size;
  for (size_t dim = 0; dim < region.begin.size(); ++dim) {
    own.push_back(tree.context().var("c" + std::to_string(dim)));
    facts.bound(own[dim], {0, region.extent[dim] - 1});
    there.push_back(arith::simplify(region.begin[dim] + own[dim]));
    size.push_back(tree.context().index(region.extent[dim]));
    // A loop that ends with a dim of open size runs in vectors without masks.
    if (buffer->shape[dim].constant() != nullptr) continue;
    const Expr left = arith::simplify(buffer->shape[dim] - region.begin[dim]);
    if (arith::prove(arith::le(size[dim], left), facts) || !arith::prove(arith::le(zero, region.begin[dim]), facts))
      continue;
    size[dim] = arith::simplify(arith::min(size[dim], left));
    facts.assume(arith::lt(own[dim], left));
  }
  const Indices at(own.begin(), own.end());
  tir::Block block;
  block.name = to_cache ? cache->name : cache->name + "_back";
  block.body =
      to_cache ? build.store(cache, at, build.load(buffer, there)) : build.store(buffer, there, build.load(cache, at));
  Stmt s = build.block(std::move(block));
  if (Expr exists = inside(buffer, there, facts)) s = build.branch(exists, s);
  for (size_t dim = own.size(); dim-- > 0;)
    s = make_stmt(tree.context(), new_loop(tree.context(), own[dim], size[dim], s));
  return s;
}

}  // namespace relaxc::schedule
