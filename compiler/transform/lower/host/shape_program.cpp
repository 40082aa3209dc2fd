// shape_program.cpp: guards, and symbols that get their values while running.
#include "compiler/transform/lower/host/shape_program.h"

#include <fmt/format.h>

#include <algorithm>

namespace relaxc::lower {

Found exact_dim(size_t axis, const std::string& tensor) {
  return {Finding::kExact, fmt::format("dim {}{}", axis, tensor.empty() ? "" : " of '" + tensor + "'")};
}

tir::Guard relation(Expr condition) {
  tir::Guard record;
  record.code = kDerivedDim;
  bool compares = condition->kind >= arith::ExprKind::kEq && condition->kind <= arith::ExprKind::kLe;
  if (!compares) return record;
  const auto& sides = *static_cast<const arith::Binary*>(condition.node());
  if (sides.a.dtype().is_index()) record.expected = sides.b, record.actual = sides.a;
  return record;
}

int32_t ShapeProgram::our_symbol(Expr e) const {
  const std::vector<Var>& entry = symbols_.entry();
  auto symbol = std::find(entry.begin(), entry.end(), e);
  return symbol == entry.end() ? -1 : static_cast<int32_t>(symbol - entry.begin());
}

void ShapeProgram::require(Expr condition, tir::Guard record, const Found& found) {
  require_named(condition, std::move(record), origins_.here() + ": " + sentence(found));
}

void ShapeProgram::require_named(Expr condition, tir::Guard record, const std::string& text) {
  condition = symbols_.known(condition);
  bool at_entry = at_.depth() == 0 && symbols_.of_entry(condition);
  if (symbols_.proves(condition, at_entry)) return;
  symbols_.assume(condition, at_entry);
  record.condition = condition;
  record.expected = symbols_.known(record.expected), record.actual = symbols_.known(record.actual);
  bool located = at_entry && record.tensor >= 0;
  if (record.error_node < 0 && !located) record.error_node = origins_.number(text);
  if (at_entry) {
    guards_.push_back(std::move(record));
    return;
  }
  // A code below 32 promises that nothing has been written, which no longer holds.
  if (record.code < kDataCapacity) record.code = kDataBound;
  at_.add(build_.guard(std::move(record)));
}

void ShapeProgram::require_equal(Expr expected, Expr actual, size_t axis, const Found& found) {
  expected = symbols_.known(expected), actual = symbols_.known(actual);
  if (expected == actual) return;
  tir::Guard record;
  record.code = kDerivedDim;
  record.axis = static_cast<int32_t>(axis);
  record.expected = expected, record.actual = actual;
  require(arith::eq(expected, actual), std::move(record), found);
}

void ShapeProgram::require_room(Expr elements, Expr capacity) {
  tir::Guard record;
  record.code = kDimBounds;
  record.expected = capacity, record.actual = elements;
  require(arith::le(elements, capacity), std::move(record), {Finding::kRoom});
}

/// Returns whether `dim` is a symbol that the cast introduces and that has no declared bound which `found` may exceed.
bool ShapeProgram::names_size(const relax::Op& cast, Expr dim, Expr found) const {
  const auto* node = dim.as<arith::VarNode>();
  if (node == nullptr || std::find(cast.binds.begin(), cast.binds.end(), Var(node)) == cast.binds.end()) return false;
  return !declared_.range_of(Var(node)).has_upper() || symbols_.of_entry(symbols_.known(found));
}

bool ShapeProgram::is_size_known_before(const relax::Op& view) const {
  const std::vector<Expr> found = relax_dims(view.operand(0)->info), wanted = relax_dims(view.result()->info);
  arith::Substitution names;
  for (size_t axis = 0; view.kind == relax::OpKind::kMatchCast && axis < wanted.size(); ++axis)
    if (names_size(view, wanted[axis], found[axis])) names.try_emplace(wanted[axis], found[axis]);
  Expr made = build_.index(1), seen = build_.index(1);
  for (Expr dim : found) made = made * dim;
  for (Expr dim : wanted) seen = seen * arith::substitute(dim, names);
  const Expr elements = symbols_.known(made);
  Expr same = arith::eq(symbols_.known(seen), elements);
  const bool in_body = view.block->parent->parent_op == nullptr;  // there, guards on entry symbols run at the entry
  return (in_body && symbols_.of_entry(same)) || symbols_.proves(same, false);
}

void ShapeProgram::add_guard(tir::Guard record, const Found& found) {
  record.error_node = origins_.of(found);
  at_.add(build_.guard(std::move(record)));
}

void ShapeProgram::bind_from_data(Var var, Expr value, Expr upper_bound, bool is_size) {
  at_.let(var, arith::cast(var.dtype(), value));
  guard_declared(var, is_size);
  symbols_.add_data(var, upper_bound, is_size);
}

/// Guards what the program declares of a symbol, since memory planning and simplification rely on it from here on. A
/// size needs no check that it is not negative: a kernel counted it.
void ShapeProgram::guard_declared(Var var, bool is_size) {
  if (!var.dtype().is_index()) return;
  arith::Range range = declared_.range_of(var);
  auto guard = [&](Expr condition, int64_t limit, Finding finding) {
    tir::Guard record;
    record.condition = condition;
    record.code = kDataBound;
    record.expected = build_.index(limit), record.actual = var;
    add_guard(std::move(record), {finding, "'" + var.name() + "'"});
  };
  if (range.has_upper()) guard(arith::le(var, build_.index(range.upper)), range.upper, Finding::kAtMost);
  bool counted = is_size && range.lower <= 0;
  if (range.has_lower() && !counted) guard(arith::ge(var, build_.index(range.lower)), range.lower, Finding::kAtLeast);
  arith::Congruence residue = declared_.congruence_of(var);
  if (residue.modulus > 1)
    guard(arith::eq(arith::floormod(var, residue.modulus), residue.remainder), residue.modulus, Finding::kMultiple);
}

}  // namespace relaxc::lower
