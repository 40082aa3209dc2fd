// axes.cpp: reads the axes of blocks.
//
// They are declared in the body (`vi = T.axis.spatial(128, i)`), or, as in 2021, in the head; then the body binds them
// (`T.bind(vi, i)`), or they are the enclosing loops, in order.
#include "frontends/relax/prim/statements.h"

#include <algorithm>

#include "compiler/support/suggest.h"
#include "frontends/relax/text/call_text.h"

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

/// `is_long`: the text of its range is int64.
Status add_axis(PrimParts& fn, tir::IterKind kind, tir::Span range, arith::Expr binding, const ast::Expr& target,
                bool is_long = false) {
  if (!target.is(AstKind::kName)) return fn.source.error(target.place, Kind::syntax, "expected a name for the axis");
  std::vector<tir::IterVar>& iters = fn.blocks.current()->block->iters;
  for (const tir::IterVar& iter : iters)
    if (iter.var.name() == target.text)
      return fn.source.error(target.place, Kind::redefinition, "the block has an axis '{}' already", target.text);
  if (iters.empty()) fn.blocks.count_axes();
  arith::Var var = fn.context().var(target.text);
  iters.push_back({var, range.begin, range.extent, kind, binding});
  if (binding) fn.ranges.note_value(var, binding);
  if (is_long || (binding && fn.names.is_long(binding))) fn.names.note_long(var);
  fn.names.bind(target.text, {.kind = PrimName::kScalar, .scalar = var}, target.place);
  return Done{};
}

/// Reads the value that an axis is bound to, which may use variables of the enclosing loops.
Result<arith::Expr> axis_value(PrimParts& fn, const ast::Expr& e) {
  PrimScalars::Head head(fn.scalars);
  return fn.scalars.index(e);
}

/// Reads the range of an axis: an extent, or (begin, end).
Result<tir::Span> axis_range(PrimParts& fn, const ast::Expr& e) {
  PrimScalars::Head head(fn.scalars);  // an extent may depend on an enclosing loop
  if (!e.is_sequence()) {
    RELAXC_TRY(arith::Expr extent, fn.scalars.index(e));
    return tir::Span{fn.context().index(0), extent};
  }
  if (e.items.size() != 2) return fn.source.error(e.place, Kind::wrong_arity, "an axis runs from a start to an end");
  RELAXC_TRY(arith::Expr begin, fn.scalars.index(*e.items[0]));
  RELAXC_TRY(arith::Expr end, fn.scalars.index(*e.items[1]));
  return tir::Span{begin, arith::simplify(end - begin)};
}

/// Returns the loops of a remap: those of a list, or those that one name stands for.
Result<std::vector<arith::Expr>> remapped_loops(PrimParts& fn, const ast::Expr& list) {
  if (list.is(AstKind::kName))
    if (auto* known = fn.names.find(list.text); known != nullptr && known->value.kind == PrimName::kLoops)
      return known->value.loops;
  if (!list.is_sequence())
    return fn.source.error(list.place, Kind::ill_formed, "expected a list of loop variables, as in [i, j]");
  std::vector<arith::Expr> loops;
  bool ok = true;
  for (const ast::Expr* item : list.items) {
    Result<arith::Expr> value = axis_value(fn, *item);
    ok = ok && value;
    if (ok) loops.push_back(*value);
  }
  if (!ok) return fn.source.diag().failed();
  return loops;
}

/// Reads T.axis.remap("SR", [i, j]): each axis has the range of the loop that it is bound to.
Status remap(PrimParts& fn, const ast::Stmt& stmt, const std::vector<const ast::Expr*>& targets) {
  const ast::Expr& call = *stmt.value;
  if (call.items.size() != 3 || !call.items[1]->is(AstKind::kString))
    return fn.source.error(call.place, Kind::ill_formed, "expected T.axis.remap(\"SR\", [i, j])");
  const std::string& kinds = call.items[1]->text;
  RELAXC_TRY(std::vector<arith::Expr> loops, remapped_loops(fn, *call.items[2]));
  if (kinds.size() != loops.size() || targets.size() != loops.size())
    return fn.source.error(call.place, Kind::wrong_arity, "{} names, {} kinds and {} loops in one remap",
                           targets.size(), kinds.size(), loops.size());
  for (size_t i = 0; i < loops.size(); ++i) {
    if (kinds[i] != 'S' && kinds[i] != 'R')
      return fn.source.error(call.items[1]->place, Kind::invalid_value, "an axis is S or R, found '{}'", kinds[i]);
    const tir::Span* range = fn.loops.range_of(loops[i]);
    if (range == nullptr) {
      const ast::Expr& list = *call.items[2];
      return fn.source.error(list.is_sequence() ? list.items[i]->place : list.place, Kind::invalid_value,
                             "a remap takes loop variables; use T.axis.spatial");
    }
    tir::IterKind kind = kinds[i] == 'S' ? tir::IterKind::kSpatial : tir::IterKind::kReduce;
    RELAXC_DO(add_axis(fn, kind, *range, loops[i], *targets[i]));
  }
  return Done{};
}

}  // namespace

Status axis_statement(PrimParts& fn, const std::string& callee, const ast::Stmt& stmt) {
  if (fn.blocks.current() == nullptr)
    return fn.source.error(stmt.place, Kind::ill_formed, "an axis belongs inside a block");
  std::string name = callee.substr(std::string_view("T.axis.").size());
  std::vector<const ast::Expr*> targets = targets_of(*stmt.target);
  if (name == "remap") return remap(fn, stmt, targets);
  std::optional<tir::IterKind> kind = axis_kind(name);
  if (!kind) {
    Failure failure = fn.source.error(stmt.value->items[0]->place, Kind::unsupported,
                                      "an axis is spatial, reduce, opaque, scan or a remap, found '{}'", name);
    if (auto near = nearest_name(name, {"spatial", "reduce", "opaque", "scan", "remap"}))
      fn.source.hint("did you mean T.axis.{}?", *near);
    return failure;
  }
  if (targets.size() != 1 || stmt.value->items.size() != 3)
    return fn.source.error(stmt.place, Kind::wrong_arity, "expected one name and two arguments: extent and value");
  RELAXC_TRY(tir::Span range, axis_range(fn, *stmt.value->items[1]));
  RELAXC_TRY(arith::Expr binding, axis_value(fn, *stmt.value->items[2]));
  return add_axis(fn, *kind, range, binding, *targets[0], fn.names.says_long(*stmt.value->items[1]));
}

Status positional_axes(PrimParts& fn, const ast::Expr& ranges, const ast::Expr* target) {
  std::vector<const ast::Expr*> names = target != nullptr ? targets_of(*target) : std::vector<const ast::Expr*>();
  if (names.size() != ranges.items.size())
    return fn.source.error(ranges.place, Kind::wrong_arity, "{} names for {} axes", names.size(), ranges.items.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const ast::Expr& item = *ranges.items[i];
    std::string callee = callee_of(&item);
    std::optional<tir::IterKind> kind = callee.rfind("T.", 0) == 0 ? axis_kind(callee.substr(2)) : std::nullopt;
    tir::Span range;
    if (kind && item.items.size() == 3) {
      RELAXC_TRY(range.begin, fn.scalars.index(*item.items[1]));
      RELAXC_TRY(arith::Expr end, fn.scalars.index(*item.items[2]));
      range.extent = arith::simplify(end - range.begin);
    } else {
      RELAXC_TRY(range, axis_range(fn, kind && item.items.size() == 2 ? *item.items[1] : item));
    }
    RELAXC_DO(add_axis(fn, kind.value_or(tir::IterKind::kSpatial), range, {}, *names[i], fn.names.says_long(item)));
  }
  return Done{};
}

Status bind_axis(PrimParts& fn, const ast::Expr& call) {
  auto* known = call.items[1]->is(AstKind::kName) ? fn.names.find(call.items[1]->text) : nullptr;
  for (tir::IterVar& iter : fn.blocks.current()->block->iters) {
    if (known == nullptr || !(known->value.scalar == iter.var)) continue;
    if (iter.binding) return fn.source.error(call.place, Kind::redefinition, "the axis is bound twice");
    RELAXC_TRY(iter.binding, axis_value(fn, *call.items[2]));
    return Done{};
  }
  return fn.source.error(call.items[1]->place, Kind::invalid_value, "expected an axis of this block");
}

Status finish_axes(PrimParts& fn) {
  const BlockState& state = *fn.blocks.current();
  std::vector<tir::IterVar>& iters = state.block->iters;
  auto is_bound = [](const tir::IterVar& iter) { return bool(iter.binding); };
  if (std::all_of(iters.begin(), iters.end(), is_bound)) return Done{};
  bool none = std::none_of(iters.begin(), iters.end(), is_bound);
  if (none && state.loops.size() == iters.size()) {
    for (size_t i = 0; i < iters.size(); ++i) iters[i].binding = state.loops[i];
    return Done{};
  }
  for (const tir::IterVar& iter : iters) {
    if (iter.binding) continue;
    Failure failure =
        fn.source.error(state.place, Kind::ill_formed, "no T.bind says what the axis '{}' is", iter.var.name());
    if (none) fn.source.hint("{} loops are around the block, which has {} axes", state.loops.size(), iters.size());
    return failure;
  }
  return Done{};
}

}  // namespace relaxc::frontend
