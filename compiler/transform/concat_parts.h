// concat_parts.h: concatenations whose operands are contiguous in the result.
#pragma once

#include <optional>
#include <vector>

#include "compiler/relax/op_def.h"

namespace relaxc {

/// Returns the byte offset of every operand in the result of a concat whose operands are contiguous in it, since all
/// dims before the axis are 1; nothing for any other op.
std::optional<std::vector<arith::Expr>> contiguous_parts(const relax::Op& op);

}  // namespace relaxc
