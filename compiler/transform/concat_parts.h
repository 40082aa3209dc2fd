// concat_parts.h: concatenations whose operands are one behind the other in memory.
#pragma once

#include <optional>
#include <vector>

#include "compiler/relax/op_def.h"

namespace relaxc {

/// The byte offset of every operand in the result of a concat whose operands are contiguous in it: all dims before the
/// axis are 1. Nothing for any other op.
std::optional<std::vector<arith::Expr>> contiguous_parts(const relax::Op& op);

}  // namespace relaxc
