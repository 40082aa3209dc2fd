// effects.cpp: assertions and printing.
//
// An assertion about entry symbols is a guard of the entry, unless an effect precedes it, which such a guard would
// prevent; any other assertion is checked where it is. A line is printed piece by piece through rlx_print, with the
// values in memory, so that one function with one prototype prints everything.
#include "compiler/relax/effects.h"
#include "compiler/tir/runtime_functions.h"
#include "compiler/transform/lower/host/op_lowering.h"

namespace relaxc::lower {

using namespace relax;

namespace {

/// Returns the memory of `value`; a shape or scalar is stored in memory first.
BufferRef shown(HostLowering& host, const Value& value) {
  if (value.info->as<TensorInfo>() != nullptr) return host.values.buffer(value);
  const auto* prim = value.info->as<PrimInfo>();
  if (prim == nullptr || prim->dtype.is_index()) return host.memory.in_memory(value.info, DType::i(64), true);
  BufferRef memory = host.at.alloc("scalar", prim->dtype, {});
  host.at.add(host.at.build().store(memory, {}, host.values.scalar(value)));
  return memory;
}

}  // namespace

Status lower_assert(HostLowering& host, Op& op) {
  Symbols& symbols = host.shapes.symbols();
  const std::string& message = op.attrs.string("format");
  tir::Guard record;
  record.code = kAssertion;
  record.error_node = host.origins.number(message.empty() ? "assert_op" : message);
  AssertedNumbers numbers = asserted_numbers(op);
  record.expected = symbols.known(numbers.expected), record.actual = symbols.known(numbers.actual);
  Expr condition = symbols.known(host.values.truth(*op.operand(0)));
  if (!host.at.after_effect()) {
    host.shapes.require_named(condition, std::move(record), message);
  } else if (!arith::prove(condition, symbols.facts())) {
    symbols.assume(condition, false);
    record.condition = condition;
    host.at.add(host.at.build().guard(std::move(record)));
  }
  return Done{};
}

Status lower_print(HostLowering& host, Op& op) {
  tir::Builder& build = host.at.build();
  host.at.note_effect();
  PrintFormat format = read_print_format(op.attrs.string("format"), op.operands().size());
  size_t next = 0;
  for (const PrintPiece& piece : format.pieces) {
    Expr size = build.index(static_cast<int64_t>(piece.text.size()));
    BufferRef text = host.memory.constant("text", DType::u(8), {size}, print_text(host.shared, piece.text));
    tir::Invoke invoke;
    invoke.callee = tir::runtime_name(tir::RuntimeFunction::kPrint), invoke.external = true,
    invoke.error_node = host.origins.of_call();
    BufferRef value = text;
    PrintKind kind = kPrintNothing;
    if (piece.has_value) {
      const Value& operand = *op.operand(next++);
      kind = print_kind(operand.info);
      value = shown(host, operand);
    }
    invoke.args = {text, value, build.index(kind)};
    host.at.add(build.invoke(std::move(invoke)));
  }
  return Done{};
}

}  // namespace relaxc::lower
