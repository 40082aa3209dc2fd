// interpret_effect.cpp: assertions, printing, and calls that write where an operand was.
#include "compiler/relax/effects.h"
#include "compiler/relax/interpret_frame.h"
#include "compiler/relax/origin_text.h"

namespace relaxc::relax::interpreter {

bool Frame::run_assert(const Op& op) {
  if (flag(op.operand(0))) return true;
  AssertedNumbers numbers = asserted_numbers(op);
  return fail(kAssertion, op.attrs.string("format"), symbols_.evaluate(numbers.expected).value_or(0),
              symbols_.evaluate(numbers.actual).value_or(0));
}

/// Printing is a call out, one for each piece of the line, as it is in an emitted object.
bool Frame::run_print(const Op& op) {
  if (!program_.external) return true;
  PrintFormat format = read_print_format(op.attrs.string("format"), op.operands().size());
  size_t next = 0;
  for (const PrintPiece& piece : format.pieces) {
    auto length = static_cast<int64_t>(piece.text.size());
    tir::ExternalArg text{const_cast<char*>(piece.text.data()), DType::u(8), {length}, 0}, value = text;
    int32_t kind = kPrintNothing;
    if (piece.has_value) {
      const Value* operand = op.operand(next++);
      const HostTensor& shown = *parts(operand)[0];
      kind = print_kind(operand->info);
      value = {address(shown), shown.dtype, shown.shape, 0};
    }
    tir::ExternalArg what{nullptr, DType::i(64), {}, kind};
    if (int32_t code = program_.external("rlx_print", std::vector{text, value, what}); code != 0)
      return fail(kExternalFailed, origin_text(op), 0, code);
  }
  return true;
}

/// On copies of the operands that are written, so that everybody else's stay what they are.
bool Frame::run_inplace(const Op& op) {
  const std::vector<int64_t>& indices = op.attrs.ints("inplace_indices");
  bool external = op.attrs.flag("external");
  std::vector<Parts> operands;
  for (const Value* operand : op.operands()) operands.push_back(parts(operand));
  std::vector<std::shared_ptr<HostTensor>> results(indices.size()), fresh;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0) continue;
    Part& taken = operands[static_cast<size_t>(indices[i])][0];
    results[i] = std::make_shared<HostTensor>(*taken);
    taken = results[i];
  }
  for (size_t i = 0; external && i < indices.size(); ++i) {
    if (indices[i] >= 0) continue;
    const TensorInfo& info = op.results[i]->tensor();
    if (!allocate(info, *info.shape, fresh.emplace_back(), "result of " + label(op))) return false;
  }
  if (external) {
    std::vector<tir::ExternalArg> args;
    for (size_t k = 0; k < operands.size(); ++k) add_arguments(operands[k], op.operand(k)->info, args);
    for (const auto& t : fresh) args.push_back({address(*t), t->dtype, t->shape, 0});
    RELAXC_CHECK(bool(program_.external), "no external functions are given, " + op.callee + " is one");
    if (int32_t code = program_.external(op.callee, args); code != 0)
      return fail(kExternalFailed, origin_text(op), 0, code);
  } else {
    Parts tensors;
    std::vector<int64_t> scalars;
    for (size_t k = 0; k < operands.size(); ++k) collect(operands[k], op.operand(k)->info, tensors, scalars);
    if (!call_inplace(op, tensors, scalars, fresh)) return false;
  }
  size_t next = 0;
  for (std::shared_ptr<HostTensor>& result : results)
    if (result == nullptr) result = fresh[next++];
  return set_results(op, Parts(results.begin(), results.end()));
}

}  // namespace relaxc::relax::interpreter
