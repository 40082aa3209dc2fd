// host_effect.cpp: assertions, printing, and calls that write a result where an operand was.
//
// An assertion about entry symbols is a guard of the entry, as long as nothing has happened before it that it would
// come too early for; any other is checked where it stands. A line is printed piece by piece through rlx_print, with
// the values in memory, so that one function with one prototype prints everything.
//
// An operand that is written keeps its value for whoever reads it later. Its memory is taken only where it certainly is
// nobody else's: made here by a kernel, not for a result, with no use but this one. Everything else is copied.
#include <algorithm>
#include <cstring>

#include "compiler/relax/effects.h"
#include "compiler/transform/lower/host_function.h"

namespace relaxc::lower {

using namespace relax;

Status HostFunction::lower_assert(Op& op) {
  const std::string& message = op.attrs.string("format");
  tir::Guard record;
  record.code = kAssertion;
  record.error_node = origins_.number(message.empty() ? "assert_op" : message);
  AssertedNumbers numbers = asserted_numbers(op);
  record.expected = symbols_.known(numbers.expected), record.actual = symbols_.known(numbers.actual);
  Expr condition = symbols_.known(values_.truth(*op.operand(0)));
  if (!at_.after_effect()) {
    shapes_.require_named(condition, std::move(record), message);
  } else if (!arith::prove(condition, symbols_.facts())) {
    symbols_.assume(condition, false);
    record.condition = condition;
    at_.add(build_.guard(std::move(record)));
  }
  return Done{};
}

Status HostFunction::lower_print(Op& op) {
  at_.note_effect();
  PrintFormat format = read_print_format(op.attrs.string("format"), op.operands().size());
  size_t next = 0;
  for (const PrintPiece& piece : format.pieces) {
    Expr size = build_.index(static_cast<int64_t>(piece.text.size()));
    BufferRef text = memory_.constant("text", DType::u(8), {size}, print_text(shared_, piece.text));
    tir::Invoke invoke;
    invoke.callee = "rlx_print", invoke.external = true, invoke.error_node = origins_.of_call();
    BufferRef value = text;
    PrintKind kind = kPrintNothing;
    if (piece.has_value) {
      const Value& operand = *op.operand(next++);
      kind = print_kind(operand.info);
      value = shown(operand);
    }
    invoke.args = {text, value, build_.index(kind)};
    at_.add(build_.invoke(std::move(invoke)));
  }
  return Done{};
}

/// A value in memory.
BufferRef HostFunction::shown(const Value& value) {
  if (value.info->as<TensorInfo>() != nullptr) return values_.buffer(value);
  const auto* prim = value.info->as<PrimInfo>();
  if (prim == nullptr || prim->dtype.is_index()) return memory_.in_memory(value.info, DType::i(64), true);
  BufferRef memory = build_.buffer("scalar", prim->dtype, {}, tir::Scope::kGlobal, WeightLayout::kAlignment);
  at_.alloc(memory);
  at_.add(build_.store(memory, {}, values_.scalar(value)));
  return memory;
}

/// Whether the memory of `value` may be written by `op`, its only reader.
bool HostFunction::may_take(const Value* value, const Op& op) const {
  while (true) {
    if (value->op == nullptr || value->uses().size() != 1 || value->op->block->parent != op.block->parent) return false;
    const Op& maker = *value->op;
    bool view = (maker.kind == OpKind::kOperator && maker.def->role == Role::kView) || maker.kind == OpKind::kMatchCast;
    if (!view) break;
    value = maker.operand(0);
  }
  OpKind kind = value->op->kind;
  bool own = kind == OpKind::kCallTir || kind == OpKind::kCallExternal || kind == OpKind::kCallInplace;
  return own && destinations_.count(value) == 0;
}

/// Gives each result of a kCallInplace that takes an operand's place its memory, with the operand's elements in it.
void HostFunction::take_places(Op& op) {
  const std::vector<int64_t>& indices = op.attrs.ints("inplace_indices");
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0) continue;
    const Value &taken = *op.operand(static_cast<size_t>(indices[i])), &result = *op.results[i];
    std::vector<Expr> from = shapes_.dims(taken.info), to = shapes_.dims(result.info);
    for (size_t axis = 0; axis < from.size(); ++axis)
      shapes_.require_equal(from[axis], to[axis], axis, exact_dim(axis, result.name));
    if (destinations_.count(&result) == 0 && may_take(&taken, op)) {
      values_.slot(result).buffer = values_.buffer(taken);
      continue;
    }
    BufferRef memory = produce(result);
    memory_.copy(values_.buffer(taken), memory);
    values_.slot(result).buffer = memory;
  }
}

/// The operands of a kCallInplace as they are passed: where one is written, the result that takes its place.
std::vector<const Value*> HostFunction::placed_operands(const Op& op) {
  std::vector<const Value*> list(op.operands().begin(), op.operands().end());
  const std::vector<int64_t>& indices = op.attrs.ints("inplace_indices");
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i] >= 0) list[static_cast<size_t>(indices[i])] = op.results[i];
  return list;
}

/// The results that have memory of their own.
std::vector<Value*> HostFunction::fresh_results(const Op& op) {
  if (op.kind != OpKind::kCallInplace) return op.results;
  std::vector<Value*> list;
  const std::vector<int64_t>& indices = op.attrs.ints("inplace_indices");
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i] < 0) list.push_back(op.results[i]);
  return list;
}

Status HostFunction::call_inplace(Op& op) {
  take_places(op);
  return op.attrs.flag("external") ? call_external(op) : call_tir(op);
}

}  // namespace relaxc::lower
