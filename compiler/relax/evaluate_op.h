// evaluate_op.h: evaluates an operator whose operands are constants.
#pragma once

#include <optional>
#include <vector>

#include "compiler/relax/op_def.h"
#include "compiler/tir/evaluator.h"

namespace relaxc::relax {

/// Returns the size of a tensor in bytes; nullopt if a dim is symbolic, the dtype unknown, or the product overflows.
std::optional<int64_t> static_bytes(const Value& value);

/// Returns whether `value` is a constant of the program.
bool is_constant(const Value* value);

/// Evaluates `op`, whose tensor operands are constants, whose shape operands have no symbols and whose results have
/// static shapes. nullopt if a guard of its definition fails (an index out of range). All NaNs become one bit pattern,
/// so that the result does not depend on this machine.
std::optional<std::vector<ConstantRef>> evaluate_op(Context& context, const Op& op, tir::Evaluator& evaluator);

}  // namespace relaxc::relax
