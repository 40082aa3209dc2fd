// block_sum.cpp: blocks the terms of sums for the cache.
//
// A tile of a long sum reads more than the first level of cache holds, and the next tile reads most of that again. If
// all tiles of LOOP go over a block of terms before the next block's turn comes, what the block reads stays there; each
// tile loads and stores its sums once a block. The sums of one iteration around LOOP are all that must wait, so scratch
// memory for them is small.
//
// Rejected: zeroing the scratch memory before the blocks, and consumers in a nest of their own after them. Each tile
// would be there three times, and the last block would store what is loaded again at once.
#include "compiler/schedule/primitives/block_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/tree/edit.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {

using tir::For;

namespace {

/// Whether the statements store to nothing but the local, and to locals of their own.
bool store_only_to(const std::vector<Stmt>& statements, BufferRef local) {
  std::set<BufferRef> own{local};  // never iterated
  bool only = true;
  for (Stmt part : statements) {
    tir::for_each_stmt(part, [&](Stmt s) {
      if (const auto* alloc = s.as<tir::Alloc>()) own.insert(alloc->buffer);
    });
    for_each_access(part, [&](const Access& access) { only &= !access.is_store || own.count(access.buffer) != 0; });
  }
  return only;
}

/// Whether one of the statements stores to memory that `terms` read.
bool change_operands(const Tree& tree, const std::vector<Stmt>& statements, Stmt terms) {
  bool found = false;
  const auto look = [&](const Access& stored) {
    if (!stored.is_store || stored.buffer->scope == tir::Scope::kLocal) return;
    for_each_access(terms,
                    [&](const Access& read) { found |= tree.memory_of(read.buffer) == tree.memory_of(stored.buffer); });
  };
  for (Stmt s : statements) for_each_access(s, look);
  return found;
}

/// LOOP with the loops of the result inside of it, and the parts of their body.
Legal<BlockSum::Facts> parts_of(const Tree& tree, const BlockSum& step) {
  BlockSum::Facts facts;
  facts.nest.push_back(&tree.loop(step.loop));
  while (const auto* inner = facts.nest.back()->body.as<For>()) facts.nest.push_back(inner);
  const auto* alloc = facts.nest.back()->body.as<tir::Alloc>();
  const auto* seq = alloc == nullptr ? nullptr : alloc->body.as<tir::Seq>();
  if (seq != nullptr && alloc->buffer->scope == tir::Scope::kLocal && alloc->buffer->shape.empty()) {
    facts.local = alloc->buffer;
    for (Stmt s : seq->body) {
      bool sums = false;
      tir::for_each_stmt(s, [&](Stmt inner) {
        const auto* loop = inner.as<For>();
        sums |= loop != nullptr && loop->id == step.sum;
      });
      if (sums) facts.terms = s;
      if (!sums) (facts.terms ? facts.rest : facts.begin).push_back(s);
    }
  }
  RELAXC_REQUIRE(facts.terms && !facts.begin.empty() && !facts.rest.empty(),
                 fmt::format("loop '{}' is not around sums in registers, with loop '{}' for their terms",
                             loop_name(tree, step.loop), loop_name(tree, step.sum)));
  return facts;
}

/// Whether the loop may become the outermost of the sum.
Legal<> may_be_outermost(const Tree& tree, Stmt terms, uint32_t sum) {
  if (terms.as<For>() != nullptr && terms.as<For>()->id == sum) return Done{};
  uint32_t block = 0;
  tir::for_each_stmt(terms, [&](Stmt s) {
    if (const auto* found = s.as<tir::Block>()) block = found->id;
  });
  RELAXC_REQUIRE(block != 0, fmt::format("loop '{}' is not the outermost of its sum", loop_name(tree, sum)));
  return is_marked(tree, block);
}

}  // namespace

Legal<BlockSum::Facts> BlockSum::legal(const Tree& tree) const {
  RELAXC_LEGAL(is_in_order(tree, loop));
  RELAXC_LEGAL(has_plain_body(tree, loop));
  RELAXC_STEP(Facts facts, parts_of(tree, *this));
  RELAXC_LEGAL(may_be_outermost(tree, facts.terms, sum));
  const For& over = tree.loop(sum);
  RELAXC_REQUIRE(
      tree.may_allocate() && over.loop_kind == tir::LoopKind::kSerial && over.min.is_constant(0) &&
          over.extent.constant() != nullptr && size > 0,
      fmt::format("loop '{}' has no known number of terms, or the kernel no scratch memory", loop_name(tree, sum)));
  std::vector<Stmt> sums = facts.begin;
  sums.push_back(facts.terms);
  RELAXC_REQUIRE(store_only_to(sums, facts.local) && !change_operands(tree, facts.rest, facts.terms),
                 fmt::format("sums in loop '{}' read what is stored there", loop_name(tree, loop)));
  const arith::Facts ranges = facts_of_loops(tree.root());
  for (const For* one : facts.nest) {
    const int64_t most = arith::bounds(one->extent, ranges).upper;
    RELAXC_REQUIRE(most > 0 && most < INT32_MAX && one->min.is_constant(0),
                   fmt::format("nothing bounds the number of sums in loop '{}'", loop_name(tree, loop)));
    facts.extents.push_back(most);
  }
  return facts;
}

BlockSum::Made BlockSum::apply(Tree& tree, const Facts& facts) const {
  Context& context = tree.context();
  tir::Builder build(context);
  // The iterations of LOOP, which may be lanes, are adjacent.
  std::vector<Expr> shape;
  tir::Indices place;
  for (size_t i = 0; i < facts.nest.size(); ++i) {
    const size_t next = (i + 1) % facts.nest.size();
    shape.push_back(context.index(facts.extents[next]));
    place.push_back(facts.nest[next]->var);
  }
  const BufferRef waiting = build.buffer("sums", facts.local->dtype, shape, tir::Scope::kGlobal, tir::kMemoryAlignment);
  const For over = tree.loop(sum);
  const Var block = context.var(over.var.name() + "_c");
  const int64_t terms = *over.extent.constant(), blocks = (terms + size - 1) / size;
  const Expr left = context.index(terms) - block * size;
  tree.edit_loop(sum, [&](const For& from) {
    For to = from;
    to.var = context.var(from.var.name() + "_i");
    to.extent = terms % size == 0 ? context.index(size) : arith::simplify(arith::min(context.index(size), left));
    to.body = tir::substitute(context, from.body, {{from.var, block * size + to.var}});
    return make_stmt(context, std::move(to));
  });
  const Expr last = context.index(blocks - 1);
  const auto body = [&](const tir::Alloc& from) {
    const std::vector<Stmt>& parts = from.body.as<tir::Seq>()->body;
    const Stmt resume = build.store(facts.local, {}, build.load(waiting, place));
    const Stmt wait = build.store(waiting, place, build.load(facts.local, {}));
    const Stmt begin = build.branch(arith::eq(block, context.index(0)), build.seq(facts.begin), resume);
    const Stmt end = build.branch(arith::eq(block, last), build.seq(facts.rest), wait);
    return build.alloc(facts.local, build.seq({begin, parts[facts.begin.size()], end}));
  };
  tree.edit_statements([&](Stmt s) {
    const auto* alloc = s.as<tir::Alloc>();
    return alloc != nullptr && alloc->buffer == facts.local ? body(*alloc) : s;
  });
  tree.edit_loop(loop, [&](const For& from) {
    const Stmt all = make_stmt(context, new_loop(context, block, context.index(blocks), Stmt(&from)));
    return build.alloc(waiting, all);
  });
  return Done{};
}

}  // namespace relaxc::schedule
