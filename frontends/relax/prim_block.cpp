// prim_block.cpp: blocks, their axes and clauses.
//
// Axes are declared in the body (`vi = T.axis.spatial(128, i)`), or, as in 2021, in the head and bound in the body
// (`T.bind(vi, i)`) or not at all: then they are the loops around, in order.
#include <algorithm>

#include "frontends/relax/literals.h"
#include "frontends/relax/prim_func.h"

namespace relaxc::frontend {

using AstKind = ast::ExprKind;

namespace {

std::optional<tir::IterKind> axis_kind(std::string_view name) {
  if (name == "spatial" || name == "S" || name == "range") return tir::IterKind::kSpatial;
  if (name == "reduce" || name == "R" || name == "reduce_axis") return tir::IterKind::kReduce;
  if (name == "opaque" || name == "O" || name == "opaque_axis") return tir::IterKind::kOpaque;
  if (name == "scan" || name == "scan_axis") return tir::IterKind::kScan;
  return std::nullopt;
}

}  // namespace

Status PrimFuncReader::block_init(const ast::Stmt& stmt) {
  Diagnostics& diag = source_.diag();
  if (block_.block == nullptr) return source_.error(stmt.place, Kind::ill_formed, "T.init belongs inside a block");
  if (block_.block->init) return source_.error(stmt.place, Kind::redefinition, "this block has two T.init");
  tir::Block* outer = block_.block;
  ++choices_;
  Result<tir::Stmt> init = suite(stmt.body);
  --choices_;
  if (!init) return diag.failed();
  outer->init = *init;
  return Done{};
}

Status PrimFuncReader::block(const ast::Stmt& stmt, const ast::Expr& head, Suite& out) {
  Diagnostics& diag = source_.diag();
  tir::Block made;
  made.location = source_.at(head.place);
  BlockState outer = std::exchange(block_, BlockState{&made, head.place, loop_vars_, {}, {}, {}});
  std::vector<arith::Expr> outer_loops = std::exchange(loop_vars_, {});
  size_t outer_depth = std::exchange(loop_depth_, 0), outer_axes = axis_blocks_, outer_choices = choices_;
  names_.push();
  bool ok = bool(block_head(stmt, head));
  Result<tir::Stmt> body = suite(stmt.body);
  ok = ok && body && finish_axes() && check_reduction();
  names_.pop();
  std::vector<tir::BufferRef> stored = std::move(block_.stored);
  block_ = std::move(outer);
  loop_vars_ = std::move(outer_loops);
  loop_depth_ = outer_depth, axis_blocks_ = outer_axes, choices_ = outer_choices;
  for (tir::BufferRef buffer : stored) written_.insert(root_of(buffer));
  block_.stored.insert(block_.stored.end(), stored.begin(), stored.end());
  if (!ok) return diag.failed();
  bool root = made.name == "root" && made.iters.empty() && !made.init && !made.predicate;
  made.body = *body;
  out.back().stmts.push_back(root ? made.body : builder_.block(std::move(made)));
  return Done{};
}

/// T.sblock("C"), T.sblock(), before 2026 T.block, and of 2021 T.block([M, N, T.reduce_axis(0, K)], "C") as [vi, vj,
/// vk].
Status PrimFuncReader::block_head(const ast::Stmt& stmt, const ast::Expr& head) {
  size_t name_at = 1;
  if (head.items.size() > 1 && head.items[1]->is_sequence()) {
    RELAXC_DO(positional_axes(*head.items[1], stmt.with.front().target));
    name_at = 2;
  }
  const ast::Keyword* keyword = head.keyword("name_hint");
  const ast::Expr* name = head.items.size() > name_at ? head.items[name_at] : keyword ? keyword->value : nullptr;
  if (name == nullptr) return Done{};
  RELAXC_TRY(block_.block->name, string_value(source_, *name, "the block's name"));
  return Done{};
}

Status PrimFuncReader::positional_axes(const ast::Expr& ranges, const ast::Expr* target) {
  std::vector<const ast::Expr*> names = target != nullptr ? targets_of(*target) : std::vector<const ast::Expr*>();
  if (names.size() != ranges.items.size())
    return source_.error(ranges.place, Kind::wrong_arity, "{} names for {} axes", names.size(), ranges.items.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const ast::Expr& item = *ranges.items[i];
    std::string callee = callee_of(&item);
    std::optional<tir::IterKind> kind = callee.rfind("T.", 0) == 0 ? axis_kind(callee.substr(2)) : std::nullopt;
    tir::Span range;
    if (kind && item.items.size() == 3) {
      RELAXC_TRY(range.begin, index(*item.items[1]));
      RELAXC_TRY(arith::Expr end, index(*item.items[2]));
      range.extent = arith::simplify(end - range.begin);
    } else {
      RELAXC_TRY(range, axis_range(kind && item.items.size() == 2 ? *item.items[1] : item));
    }
    RELAXC_DO(add_axis(kind.value_or(tir::IterKind::kSpatial), range, {}, *names[i]));
  }
  return Done{};
}

/// T.bind(vi, i)
Status PrimFuncReader::bind_axis(const ast::Expr& call) {
  auto* known = call.items[1]->is(AstKind::kName) ? names_.find(call.items[1]->text) : nullptr;
  for (tir::IterVar& iter : block_.block->iters) {
    if (known == nullptr || !(known->value.scalar == iter.var)) continue;
    if (iter.binding) return source_.error(call.place, Kind::redefinition, "the axis is bound twice");
    RELAXC_TRY(iter.binding, axis_value(*call.items[2]));
    return Done{};
  }
  return source_.error(call.items[1]->place, Kind::invalid_value, "expected an axis of this block");
}

/// Axes that nothing binds are the loops around the block.
Status PrimFuncReader::finish_axes() {
  std::vector<tir::IterVar>& iters = block_.block->iters;
  auto is_bound = [](const tir::IterVar& iter) { return bool(iter.binding); };
  if (std::all_of(iters.begin(), iters.end(), is_bound)) return Done{};
  bool none = std::none_of(iters.begin(), iters.end(), is_bound);
  if (none && block_.loops.size() == iters.size()) {
    for (size_t i = 0; i < iters.size(); ++i) iters[i].binding = block_.loops[i];
    return Done{};
  }
  for (const tir::IterVar& iter : iters) {
    if (iter.binding) continue;
    Failure failure =
        source_.error(block_.place, Kind::ill_formed, "no T.bind says what the axis '{}' is", iter.var.name());
    if (none) source_.hint("{} loops stand around the block, which has {} axes", block_.loops.size(), iters.size());
    return failure;
  }
  return Done{};
}

/// A reduction combines with what is there; somebody must have put it there.
Status PrimFuncReader::check_reduction() {
  const tir::Block& block = *block_.block;
  bool reduces = std::any_of(block.iters.begin(), block.iters.end(),
                             [](const tir::IterVar& iter) { return iter.iter_kind == tir::IterKind::kReduce; });
  if (!reduces || block.init) return Done{};
  for (tir::BufferRef buffer : block_.combined) {
    bool stated = std::find(block_.read.begin(), block_.read.end(), buffer) != block_.read.end();
    if (stated || written_.count(root_of(buffer)) != 0) continue;
    Failure failure = source_.error(block_.place, Kind::ill_formed,
                                    "the reduction combines into '{}', which nothing has written before", buffer->name);
    source_.hint("begin with a value: with T.init(): {}[…] = …", buffer->name);
    return failure;
  }
  return Done{};
}

Status PrimFuncReader::add_axis(tir::IterKind kind, tir::Span range, arith::Expr binding, const ast::Expr& target) {
  if (!target.is(AstKind::kName)) return source_.error(target.place, Kind::syntax, "expected a name for the axis");
  std::vector<tir::IterVar>& iters = block_.block->iters;
  for (const tir::IterVar& iter : iters)
    if (iter.var.name() == target.text)
      return source_.error(target.place, Kind::redefinition, "the block has an axis '{}' already", target.text);
  if (iters.empty()) ++axis_blocks_;
  arith::Var var = context_.var(target.text);
  iters.push_back({var, range.begin, range.extent, kind, binding});
  if (binding)
    if (std::optional<arith::Range> values = attained(binding)) attained_[var->id] = *values;
  bind(target.text, {.kind = PrimName::kScalar, .scalar = var}, target.place);
  return Done{};
}

/// What an axis is bound to speaks of the loops around.
Result<arith::Expr> PrimFuncReader::axis_value(const ast::Expr& e) {
  bool outer = std::exchange(in_head_, true);
  Result<arith::Expr> value = index(e);
  in_head_ = outer;
  return value;
}

/// An extent, or (begin, end).
Result<tir::Span> PrimFuncReader::axis_range(const ast::Expr& e) {
  if (!e.is_sequence()) {
    RELAXC_TRY(arith::Expr extent, index(e));
    return tir::Span{context_.index(0), extent};
  }
  if (e.items.size() != 2) return source_.error(e.place, Kind::wrong_arity, "an axis runs from a begin to an end");
  RELAXC_TRY(arith::Expr begin, index(*e.items[0]));
  RELAXC_TRY(arith::Expr end, index(*e.items[1]));
  return tir::Span{begin, arith::simplify(end - begin)};
}

/// `vi = T.axis.spatial(128, i)`, `vi, vj = T.axis.remap("SR", [i, j])`, T.axis.S and R, extents (begin, end).
Status PrimFuncReader::axes(const std::string& callee, const ast::Stmt& stmt) {
  if (block_.block == nullptr) return source_.error(stmt.place, Kind::ill_formed, "an axis belongs inside a block");
  std::string name = callee.substr(std::string_view("T.axis.").size());
  std::vector<const ast::Expr*> targets = targets_of(*stmt.target);
  if (name == "remap") return remap(stmt, targets);
  std::optional<tir::IterKind> kind = axis_kind(name);
  if (!kind)
    return source_.error(stmt.value->items[0]->place, Kind::unsupported,
                         "an axis is spatial, reduce, opaque, scan or a remap, found '{}'", name);
  if (targets.size() != 1 || stmt.value->items.size() != 3)
    return source_.error(stmt.place, Kind::wrong_arity, "expected one name and two arguments: extent and value");
  RELAXC_TRY(tir::Span range, axis_range(*stmt.value->items[1]));
  RELAXC_TRY(arith::Expr binding, axis_value(*stmt.value->items[2]));
  return add_axis(*kind, range, binding, *targets[0]);
}

/// The axes' ranges are those of the loops that they are bound to.
Status PrimFuncReader::remap(const ast::Stmt& stmt, const std::vector<const ast::Expr*>& targets) {
  Diagnostics& diag = source_.diag();
  const ast::Expr& call = *stmt.value;
  if (call.items.size() != 3 || !call.items[1]->is(AstKind::kString) || !call.items[2]->is_sequence())
    return source_.error(call.place, Kind::ill_formed, "expected T.axis.remap(\"SR\", [i, j])");
  const std::string& kinds = call.items[1]->text;
  const std::vector<const ast::Expr*>& loops = call.items[2]->items;
  if (kinds.size() != loops.size() || targets.size() != loops.size())
    return source_.error(call.place, Kind::wrong_arity, "{} names, {} kinds and {} loops in one remap", targets.size(),
                         kinds.size(), loops.size());
  bool ok = true;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (kinds[i] != 'S' && kinds[i] != 'R')
      return source_.error(call.items[1]->place, Kind::invalid_value, "an axis is S or R, found '{}'", kinds[i]);
    Result<arith::Expr> binding = axis_value(*loops[i]);
    ok = ok && binding;
    if (!binding) continue;
    auto range = loop_ranges_.find((*binding)->id);
    if (range == loop_ranges_.end())
      return source_.error(loops[i]->place, Kind::invalid_value, "a remap wants loop variables; use T.axis.spatial");
    tir::IterKind kind = kinds[i] == 'S' ? tir::IterKind::kSpatial : tir::IterKind::kReduce;
    RELAXC_DO(add_axis(kind, range->second, *binding, *targets[i]));
  }
  if (!ok) return diag.failed();
  return Done{};
}

/// T.reads, T.writes, T.where and T.sblock_attr of the block around.
Status PrimFuncReader::block_clause(const std::string& callee, const ast::Expr& call, bool& done) {
  Diagnostics& diag = source_.diag();
  bool attributes = callee == "T.block_attr" || callee == "T.sblock_attr";
  if (callee != "T.reads" && callee != "T.writes" && callee != "T.where" && !attributes) return Done{};
  done = true;
  if (block_.block == nullptr) return source_.error(call.place, Kind::ill_formed, "{} belongs inside a block", callee);
  if (callee == "T.reads") {
    RELAXC_DO(regions(call, block_.block->reads));
    for (const tir::BufferRegion& read : block_.block->reads) block_.read.push_back(read.buffer);
    return Done{};
  }
  if (callee == "T.writes") return regions(call, block_.block->writes);
  if (call.items.size() != 2) return source_.error(call.place, Kind::wrong_arity, "{} takes one argument", callee);
  if (callee == "T.where") {
    bool outer = std::exchange(in_head_, true);
    Result<arith::Expr> predicate = condition(*call.items[1]);
    in_head_ = outer;
    if (!predicate) return diag.failed();
    block_.block->predicate = *predicate;
    ++choices_;  // until the block ends
    return Done{};
  }
  RELAXC_TRY(block_.block->annotations, annotations(call.items[1]));
  return Done{};
}

Status PrimFuncReader::regions(const ast::Expr& call, std::vector<tir::BufferRegion>& out) {
  std::vector<const ast::Expr*> items(call.items.begin() + 1, call.items.end());
  if (items.size() == 1 && items[0]->is_sequence()) items = items[0]->items;
  for (const ast::Expr* item : items) {
    RELAXC_TRY(tir::BufferRegion made, region(*item));
    out.push_back(std::move(made));
  }
  return Done{};
}

/// `A[i, 0:8]`, or all of a buffer by its name.
Result<tir::BufferRegion> PrimFuncReader::region(const ast::Expr& e) {
  bool whole = e.is(AstKind::kName);
  if (!whole && !e.is(AstKind::kSubscript))
    return source_.error(e.place, Kind::invalid_value, "expected a buffer or a part of one, as in A[i, 0:8]");
  tir::BufferRegion region;
  RELAXC_TRY(region.buffer, find_buffer(whole ? e : *e.items[0]));
  std::vector<const ast::Expr*> parts;
  if (!whole) parts.assign(e.items.begin() + 1, e.items.end());
  if (parts.size() == 1 && parts[0]->is(AstKind::kTuple)) parts = parts[0]->items;
  if (!whole && parts.size() != region.buffer->shape.size())
    return source_.error(e.place, Kind::rank_mismatch, "'{}' has {} dims, found {} subscripts", region.buffer->name,
                         region.buffer->shape.size(), parts.size());
  for (size_t i = 0; i < region.buffer->shape.size(); ++i) {
    arith::Expr begin = context_.index(0), end = region.buffer->shape[i];
    if (whole) {
      region.spans.push_back({begin, end});
    } else if (parts[i]->is(AstKind::kSlice)) {
      if (parts[i]->items[0] != nullptr) {
        RELAXC_TRY(begin, index(*parts[i]->items[0]));
      }
      if (parts[i]->items[1] != nullptr) {
        RELAXC_TRY(end, index(*parts[i]->items[1]));
      }
      region.spans.push_back({begin, arith::simplify(end - begin)});
    } else {
      RELAXC_TRY(begin, index(*parts[i]));
      region.spans.push_back({begin, context_.index(1)});
    }
  }
  return region;
}

}  // namespace relaxc::frontend
