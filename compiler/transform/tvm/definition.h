// definition.h: an operator as a prim func that TVM calls.
#pragma once

#include <vector>

#include "compiler/relax/builder.h"

namespace relaxc {

/// Adds the definition of the operator `op` to the module, in the order of parameters that TVM's call_tir has: tensors,
/// scalars, results. Sets `operands` to the values that a call passes.
tir::PrimFunc* add_definition(relax::GraphBuilder& builder, const relax::Op& op, std::vector<relax::Value*>& operands);

}  // namespace relaxc
