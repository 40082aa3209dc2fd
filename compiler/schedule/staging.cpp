// staging.cpp: primitives that work on a copy of a part of a buffer, contiguous and near.
#include <fmt/format.h>

#include "compiler/schedule/access.h"
#include "compiler/schedule/edit.h"
#include "compiler/schedule/legality.h"
#include "compiler/schedule/region.h"

namespace relaxc::schedule {

using tir::For;
using tir::Indices;

namespace {

/// Whether `s` accesses the memory of `buffer` element by element, through it alone.
bool is_accessed_plainly(const Schedule& s, Stmt stmt, BufferRef buffer) {
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

bool is_stored(const Schedule& s, Stmt stmt, BufferRef buffer) {
  bool stored = false;
  for_each_access(stmt, [&](const Access& access) {
    stored |= access.is_store && s.memory_of(access.buffer) == s.memory_of(buffer);
  });
  return stored;
}

}  // namespace

void Schedule::cache_read(BufferRef buffer, uint32_t loop_id) {
  const Stmt around(&loop(loop_id));
  const Region region = require_cacheable(buffer, loop_id);
  require(!is_stored(*this, stands_in(loop_id, tir::LoopKind::kParallel) ? root_ : around, buffer),
          [&] { return fmt::format("{} is stored to while loop '{}' runs", buffer->name, loop_name(loop_id)); });
  note(fmt::format("cache_read {} {}", buffer_name(buffer), loop_name(loop_id)));
  const BufferRef cache = cache_of(buffer, region);
  const Stmt copy = copy_between(buffer, cache, region, true);
  edit_loop(loop_id, [&](const For& from) {
    return build_.alloc(cache, build_.seq({copy, through(cache, Stmt(&from), buffer, region)}));
  });
}

void Schedule::cache_write(BufferRef buffer, uint32_t loop_id) {
  const Stmt around(&loop(loop_id));
  const Region region = require_cacheable(buffer, loop_id);
  require(is_stored(*this, around, buffer),
          [&] { return fmt::format("loop '{}' does not store to {}", loop_name(loop_id), buffer->name); });
  require(!stands_in(loop_id, tir::LoopKind::kParallel) && loop(loop_id).loop_kind != tir::LoopKind::kParallel, [&] {
    return fmt::format("other iterations than those of loop '{}' may store next to them at the same time",
                       loop_name(loop_id));
  });
  note(fmt::format("cache_write {} {}", buffer_name(buffer), loop_name(loop_id)));
  const BufferRef cache = cache_of(buffer, region);
  const Stmt fill = fills(around, buffer, region) ? Stmt() : copy_between(buffer, cache, region, true);
  const Stmt back = copy_between(buffer, cache, region, false);
  edit_loop(loop_id, [&](const For& from) {
    return build_.alloc(cache, build_.seq({fill, through(cache, Stmt(&from), buffer, region), back}));
  });
}

/// The part of the buffer that all iterations of the loop together access, which can be somewhere else meanwhile.
Region Schedule::require_cacheable(BufferRef buffer, uint32_t loop_id) const {
  const Stmt around(&loop(loop_id));
  require(may_allocate_, "the kernel has no scratch memory");
  require(!stands_in(loop_id, tir::LoopKind::kVectorized),
          [&] { return fmt::format("loop '{}' runs in lanes", loop_name(loop_id)); });
  require(is_accessed_plainly(*this, around, buffer), [&] {
    return fmt::format("loop '{}' accesses the memory of {} in another way than by its elements, too",
                       loop_name(loop_id), buffer->name);
  });
  std::optional<Region> region = region_of(around, buffer);
  require(region.has_value(), [&] {
    return fmt::format("it is not known which part of {} loop '{}' accesses", buffer->name, loop_name(loop_id));
  });
  return *std::move(region);
}

BufferRef Schedule::cache_of(BufferRef buffer, const Region& region) {
  std::vector<Expr> shape;
  for (int64_t extent : region.extent) shape.push_back(context_.index(extent));
  return build_.buffer(buffer->name + "_cache", buffer->dtype, std::move(shape), tir::Scope::kGlobal, 64);
}

/// `s` with the copy in the buffer's place.
Stmt Schedule::through(BufferRef cache, Stmt s, BufferRef buffer, const Region& region) {
  return redirect(context_, s, buffer, cache, [&](const Indices& from) {
    Indices to;
    for (size_t dim = 0; dim < from.size(); ++dim) to.push_back(arith::simplify(from[dim] - region.begin[dim]));
    return std::optional(to);
  });
}

/// The elements of the box that exist go from the buffer to the copy, or back.
Stmt Schedule::copy_between(BufferRef buffer, BufferRef cache, const Region& region, bool to_cache) {
  arith::Facts facts = facts_of_loops();
  std::vector<Var> own;
  Indices there;
  for (size_t dim = 0; dim < region.begin.size(); ++dim) {
    own.push_back(context_.var("c" + std::to_string(dim)));
    facts.bound(own[dim], {0, region.extent[dim] - 1});
    there.push_back(arith::simplify(region.begin[dim] + own[dim]));
  }
  const Indices at(own.begin(), own.end());
  tir::Block block;
  block.name = to_cache ? cache->name : cache->name + "_back";
  block.body = to_cache ? build_.store(cache, at, build_.load(buffer, there))
                        : build_.store(buffer, there, build_.load(cache, at));
  Stmt s = build_.block(std::move(block));
  if (Expr exists = inside(buffer, there, facts)) s = build_.branch(exists, s);
  for (size_t dim = own.size(); dim-- > 0;)
    s = make_stmt(context_, made_loop(own[dim], context_.index(region.extent[dim]), s));
  return s;
}

}  // namespace relaxc::schedule
