// interpret_effect.cpp: runs assertions, and calls that write to the memory of an operand.
#include "compiler/relax/effects.h"
#include "compiler/relax/interpret_frame.h"
#include "compiler/relax/interpret_prim_call.h"
#include "compiler/relax/origin_text.h"

namespace relaxc::relax::interpreter {

bool Frame::run_assert(const Op& op) {
  if (values_.flag(op.operand(0))) return true;
  AssertedNumbers numbers = asserted_numbers(op);
  return values_.fail(kAssertion, op.attrs.string("format"), values_.symbols().evaluate(numbers.expected).value_or(0),
                      values_.symbols().evaluate(numbers.actual).value_or(0));
}

/// Runs an in-place call on copies of the operands that it writes, so that other users still see the old contents.
bool Frame::run_inplace(const Op& op) {
  const std::vector<int64_t>& indices = op.attrs.ints("inplace_indices");
  bool external = op.attrs.flag("external");
  std::vector<Parts> operands;
  for (const Value* operand : op.operands()) operands.push_back(values_.of(operand));
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
    if (!values_.allocate(*info.dtype, *info.shape, fresh.emplace_back(), "result of " + label(op))) return false;
  }
  if (external) {
    if (!externals_.run_inplace(op, operands, fresh)) return false;
  } else {
    Parts tensors;
    std::vector<int64_t> scalars;
    for (size_t k = 0; k < operands.size(); ++k) collect(operands[k], op.operand(k)->info, tensors, scalars);
    const tir::PrimFunc* function = program_.module.find_prim_func(op.callee);
    RELAXC_CHECK(function != nullptr, "no prim func " + op.callee);
    PrimCall call(op, *function, program_.evaluator, values_);
    if (!call.run_inplace(std::move(tensors), std::move(scalars), fresh)) return false;
  }
  size_t next = 0;
  for (std::shared_ptr<HostTensor>& result : results)
    if (result == nullptr) result = fresh[next++];
  return values_.set_results(op, Parts(results.begin(), results.end()));
}

}  // namespace relaxc::relax::interpreter
