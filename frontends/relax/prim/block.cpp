// block.cpp: reads blocks and their clauses.
#include "frontends/relax/prim/statements.h"

#include <algorithm>

#include "frontends/relax/prim/subscripts.h"
#include "frontends/relax/text/call_text.h"
#include "frontends/relax/text/literals.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

/// T.sblock("C"), T.sblock(), before 2026 T.block, and of 2021 T.block([M, N, T.reduce_axis(0, K)], "C") as [vi, vj,
/// vk].
Status block_head(PrimParts& fn, const ast::Stmt& stmt, const ast::Expr& head) {
  size_t name_at = 1;
  if (head.items.size() > 1 && head.items[1]->is_sequence()) {
    RELAXC_DO(positional_axes(fn, *head.items[1], stmt.with.front().target));
    name_at = 2;
  }
  const ast::Keyword* keyword = head.keyword("name_hint");
  const ast::Expr* name = head.items.size() > name_at ? head.items[name_at] : keyword ? keyword->value : nullptr;
  if (name == nullptr) return Done{};
  RELAXC_TRY(fn.blocks.current()->block->name, string_value(fn.source, *name, "the block's name"));
  return Done{};
}

/// Reports a reduction that combines into a buffer that nothing has initialized.
Status check_reduction(PrimParts& fn) {
  const BlockState& state = *fn.blocks.current();
  const tir::Block& block = *state.block;
  bool reduces = std::any_of(block.iters.begin(), block.iters.end(),
                             [](const tir::IterVar& iter) { return iter.iter_kind == tir::IterKind::kReduce; });
  if (!reduces || block.init) return Done{};
  for (tir::BufferRef buffer : state.combined) {
    bool stated = std::find(state.read.begin(), state.read.end(), buffer) != state.read.end();
    stated |= std::find(state.before.begin(), state.before.end(), buffer) != state.before.end();
    if (stated || fn.blocks.is_written(buffer)) continue;
    Failure failure =
        fn.source.error(state.place, Kind::ill_formed,
                        "the reduction combines into '{}', which nothing has written before", buffer->name);
    fn.source.hint("begin with a value: with T.init(): {}[…] = …", buffer->name);
    return failure;
  }
  return Done{};
}

Status buffer_regions(PrimParts& fn, const ast::Expr& call, std::vector<tir::BufferRegion>& out) {
  std::vector<const ast::Expr*> items(call.items.begin() + 1, call.items.end());
  if (items.size() == 1 && items[0]->is_sequence()) items = items[0]->items;
  for (const ast::Expr* item : items) {
    RELAXC_TRY(tir::BufferRegion made, buffer_region(fn, *item));
    out.push_back(std::move(made));
  }
  return Done{};
}

/// Reads the statements of a block; its head and axes go to `made`.
Result<tir::Stmt> block_body(PrimParts& fn, const ast::Stmt& stmt, const ast::Expr& head, tir::Block& made) {
  Blocks::Inside inside(fn.blocks, made, head.place, fn.loops.variables());
  Loops::Hidden loops(fn.loops);
  PrimScalars::Block choices(fn.scalars);
  PrimNames::Inner names(fn.names);
  bool ok = bool(block_head(fn, stmt, head));
  Result<tir::Stmt> body = prim_suite(fn, stmt.body);
  if (ok && body && finish_axes(fn) && check_reduction(fn)) return body;
  return fn.diag().failed();
}

}  // namespace

Status block_statement(PrimParts& fn, const ast::Stmt& stmt, const ast::Expr& head, Suite& out) {
  tir::Block made;
  made.location = fn.source.at(head.place);
  Result<tir::Stmt> body = block_body(fn, stmt, head, made);
  if (!body) return fn.diag().failed();
  bool root = made.name == "root" && made.iters.empty() && !made.init && !made.predicate;
  made.body = *body;
  out.add(root ? made.body : fn.builder.block(std::move(made)));
  return Done{};
}

Status init_statement(PrimParts& fn, const ast::Stmt& stmt, const Suite& around) {
  BlockState* state = fn.blocks.current();
  if (state == nullptr) return fn.source.error(stmt.place, Kind::ill_formed, "T.init belongs inside a block");
  tir::Block& block = *state->block;
  if (block.init) return fn.source.error(stmt.place, Kind::redefinition, "this block has two T.init");
  ScalarReader::Choice choice(fn.scalars);
  RELAXC_TRY(tir::Stmt init, prim_suite(fn, stmt.body));
  block.init = around.with_views(init);
  return Done{};
}

Status block_clause(PrimParts& fn, const std::string& callee, const ast::Expr& call, bool& done) {
  bool attributes = callee == "T.block_attr" || callee == "T.sblock_attr";
  if (callee != "T.reads" && callee != "T.writes" && callee != "T.where" && !attributes) return Done{};
  done = true;
  BlockState* state = fn.blocks.current();
  if (state == nullptr) return fn.source.error(call.place, Kind::ill_formed, "{} belongs inside a block", callee);
  tir::Block& block = *state->block;
  if (callee == "T.reads") {
    RELAXC_DO(buffer_regions(fn, call, block.reads));
    for (const tir::BufferRegion& read : block.reads) state->read.push_back(read.buffer);
    return Done{};
  }
  if (callee == "T.writes") return buffer_regions(fn, call, block.writes);
  if (call.items.size() != 2) return fn.source.error(call.place, Kind::wrong_arity, "{} takes one argument", callee);
  if (callee == "T.where") {
    PrimScalars::Head head(fn.scalars);
    RELAXC_TRY(block.predicate, fn.scalars.condition(*call.items[1]));
    fn.scalars.add_choice();  // until the block ends
    return Done{};
  }
  RELAXC_TRY(block.annotations, loop_annotations(fn, call.items[1]));
  return Done{};
}

}  // namespace relaxc::frontend
