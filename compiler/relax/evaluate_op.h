// evaluate_op.h: the results of an operator whose operands are constants.
#pragma once

#include <optional>
#include <vector>

#include "compiler/relax/op_def.h"
#include "compiler/tir/evaluator.h"

namespace relaxc::relax {

/// Bytes of a tensor of constant shape; nothing if a dim is symbolic, the dtype open, or the product overflows.
std::optional<int64_t> static_bytes(const Value& value);

/// Whether `value` is a constant of the program.
bool is_constant(const Value* value);

/// Runs the definition of `op`, whose tensor operands are constants, whose shape operands have no symbols and whose
/// results have static shapes. Nothing if the definition refuses (an index out of range). A NaN has one form, whatever
/// the machine computes.
std::optional<std::vector<ConstantRef>> evaluate_op(Context& context, const Op& op, tir::Evaluator& evaluator);

}  // namespace relaxc::relax
