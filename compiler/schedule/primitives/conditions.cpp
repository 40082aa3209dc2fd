// conditions.cpp: see conditions.h.
#include "compiler/schedule/primitives/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/analysis/legality.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::For;
using tir::Indices;
using tir::LoopKind;

Legal<> has_plain_body(const Tree& tree, uint32_t id) {
  RELAXC_REQUIRE(is_plain(tree.loop(id).body),
                 fmt::format("loop '{}' has iterations that may end early, or calls, in it", loop_name(tree, id)));
  return Done{};
}

Legal<> is_in_order(const Tree& tree, uint32_t id) {
  RELAXC_LEGAL(has_plain_body(tree, id));
  LoopKind kind = tree.loop(id).loop_kind;
  RELAXC_REQUIRE(kind == LoopKind::kSerial || kind == LoopKind::kParallel,
                 fmt::format("loop '{}' is already {}", loop_name(tree, id),
                             kind == LoopKind::kVectorized ? "vectorized" : "unrolled"));
  return Done{};
}

Legal<> is_maskable(const Tree& tree, uint32_t id) {
  const For& from = tree.loop(id);
  std::set<BufferRef> own;  // never iterated
  bool fits = true;
  tir::for_each_stmt(from.body, [&](Stmt s) {
    if (const auto* alloc = s.as<tir::Alloc>()) own.insert(alloc->buffer);
    const auto* block = s.as<tir::Block>();
    fits &= block == nullptr || (block->iters.empty() && !block->predicate && !block->init);
    const auto* store = s.as<tir::Store>();
    if (store != nullptr && store->buffer->scope == tir::Scope::kLocal) fits &= own.count(store->buffer) != 0;
    if (store != nullptr) return;
    for (Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](Expr node) { fits &= node.as<arith::Load>() == nullptr; });
  });
  RELAXC_REQUIRE(
      fits,
      fmt::format("loop '{}' cannot be masked: its body holds a block with axes of its own, reads memory outside of "
                  "stores, or changes a local that outlives it; 'peeled' can do it",
                  loop_name(tree, id)));
  return Done{};
}

Legal<> has_few_iterations(const Tree& tree, uint32_t id) {
  constexpr int64_t kMost = 256;
  const int64_t* extent = tree.loop(id).extent.constant();
  RELAXC_REQUIRE(extent != nullptr && *extent <= kMost,
                 fmt::format("loop '{}' has {} iterations, more than the limit of {}; split it first",
                             loop_name(tree, id), arith::to_string(tree.loop(id).extent), kMost));
  return Done{};
}

Legal<> runs_together(const Tree& tree, uint32_t id) {
  RELAXC_REQUIRE(may_run_together(tree.root(), tree.loop(id)),
                 fmt::format("iterations of loop '{}' depend on each other: one may need what another one stores",
                             loop_name(tree, id)));
  return Done{};
}

Legal<> is_parallelizable(const Tree& tree, uint32_t id) {
  RELAXC_LEGAL(is_in_order(tree, id));
  RELAXC_LEGAL(runs_together(tree, id));
  bool inside = false;
  for (LoopKind kind : {LoopKind::kParallel, LoopKind::kVectorized, LoopKind::kUnrolled})
    inside |= is_inside_loop(tree, id, kind);
  tir::for_each_stmt(tree.loop(id).body, [&](Stmt s) {
    const auto* inner = s.as<For>();
    inside |= inner != nullptr && inner->loop_kind == LoopKind::kParallel;
  });
  RELAXC_REQUIRE(!inside, "loops whose iterations run at the same time cannot be nested");
  return Done{};
}

Legal<> is_jammable(const Tree& tree, uint32_t id) {
  RELAXC_LEGAL(has_plain_body(tree, id));
  RELAXC_LEGAL(has_few_iterations(tree, id));
  RELAXC_LEGAL(runs_together(tree, id));
  const For& outer = tree.loop(id);
  bool same = true;
  tir::for_each_stmt(outer.body, [&](Stmt s) {
    const auto* inner = s.as<For>();
    if (inner == nullptr) return;
    for (Expr bound : {inner->min, inner->extent})
      arith::for_each_node(bound,
                           [&](Expr node) { same &= !(node == outer.var) && node.as<arith::Load>() == nullptr; });
  });
  RELAXC_REQUIRE(
      same, fmt::format("loops inside of '{}' have bounds that differ between its iterations", loop_name(tree, id)));
  return Done{};
}

Legal<> is_marked(const Tree& tree, uint32_t block_id) {
  RELAXC_REQUIRE(tree.block(block_id).annotations.count("reassociate") != 0,
                 fmt::format("the order in which block '{}' reduces is to be kept; 'reassociate' it first",
                             block_name(tree, block_id)));
  return Done{};
}

Legal<> is_producer(const Tree& tree, Stmt nest) {
  const analysis::Nest producer = analysis::as_nest(nest);
  const BufferRef buffer = producer.store->buffer;
  RELAXC_REQUIRE(!axes_of(tree, nest).empty() && tree.is_non_escaping(buffer) && tree.memory_of(buffer) == buffer,
                 fmt::format("block '{}' does not compute every element of '{}' once, or '{}' is seen outside",
                             block_name(tree, producer.block->id), buffer->name, buffer->name));
  std::set<BufferRef> read;  // never iterated
  for_each_access(nest, [&](const Access& access) {
    if (!access.is_store) read.insert(tree.memory_of(access.buffer));
  });
  if (producer.block->init) read.erase(buffer);
  std::set<const tir::StmtNode*> inside;
  tir::for_each_stmt(nest, [&](Stmt s) { inside.insert(s.node()); });
  bool stays = read.count(buffer) == 0 && is_plain(tree.root());
  tir::for_each_stmt(tree.root(), [&](Stmt s) {
    if (inside.count(s.node()) != 0) return;
    if (const auto* store = s.as<tir::Store>())
      stays &= tree.memory_of(store->buffer) != buffer && read.count(tree.memory_of(store->buffer)) == 0;
    if (const auto* view = s.as<tir::View>()) stays &= view->base != buffer;
  });
  RELAXC_REQUIRE(stays, fmt::format("what block '{}' reads, or computes, is stored to elsewhere",
                                    block_name(tree, producer.block->id)));
  return Done{};
}

std::vector<const For*> axes_of(const Tree& tree, Stmt nest) {
  const analysis::Nest producer = analysis::as_nest(nest);
  const Indices& indices = producer.store->indices;
  const arith::Substitution bound = bindings(*producer.block);
  std::vector<const For*> axes;
  for (size_t i = 0; i < indices.size(); ++i) {
    const Expr axis = arith::substitute(indices[i], bound);
    const auto end =
        producer.loops.begin() + static_cast<std::ptrdiff_t>(std::min(indices.size(), producer.loops.size()));
    const auto own = std::find_if(producer.loops.begin(), end, [&](const For* l) { return axis == l->var; });
    if (own == end || std::find(axes.begin(), axes.end(), *own) != axes.end()) return {};
    const bool whole = (*own)->min.is_constant(0) && (*own)->loop_kind == tir::LoopKind::kSerial &&
                       arith::prove_equal((*own)->extent, producer.store->buffer->shape[i], tree.facts());
    if (!whole) return {};
    axes.push_back(*own);
  }
  return axes;
}

bool is_read_besides(const Tree& tree, BufferRef buffer, const std::vector<Stmt>& readers) {
  if (!tree.is_non_escaping(buffer)) return true;
  std::set<const tir::StmtNode*> inside;  // never iterated
  for (Stmt reader : readers) tir::for_each_stmt(reader, [&](Stmt s) { inside.insert(s.node()); });
  bool read = false;
  tir::for_each_stmt(tree.root(), [&](Stmt s) {
    if (inside.count(s.node()) != 0) return;
    for (Expr e : tir::expressions(s))
      arith::for_each_node(e, [&](Expr node) {
        const auto* load = node.as<arith::Load>();
        read |= load != nullptr && tree.memory_of(load->buffer) == tree.memory_of(buffer);
      });
  });
  return read;
}

Legal<size_t> own_operand(const Tree& tree, BufferRef buffer) {
  BufferRef memory = tree.memory_of(buffer);
  auto found = std::find_if(tree.operands().begin(), tree.operands().end(),
                            [&](const Operand& o) { return o.buffer == memory; });
  RELAXC_REQUIRE(found != tree.operands().end(), buffer->name + " is not a constant at every call of the kernel");
  bool alone = !tree.is_used_elsewhere(memory) && buffer->strides.empty();
  for_each_access(tree.root(), [&](const Access& access) {
    alone &= tree.memory_of(access.buffer) != memory || (access.buffer == buffer && !access.is_store);
  });
  RELAXC_REQUIRE(alone, buffer->name + " is read elsewhere in the kernel, or in another shape, too");
  return static_cast<size_t>(found - tree.operands().begin());
}

}  // namespace relaxc::schedule
