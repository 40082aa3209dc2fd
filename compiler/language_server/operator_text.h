// operator_text.h: what an editor shows of operators.
#pragma once

#include <string>
#include <vector>

#include "compiler/relax/op_def.h"

namespace relaxc::language_server {

/// Returns the operator that a path such as `R.nn.relu` or `relax.op.nn.relu` names; null if there is none.
const relax::OpDef* operator_of(const relax::OpTable& ops, const std::string& path);

/// Returns the operator's call with its parameters, `R.nn.softmax(x, axis=-1)`; optional operands are `None` by
/// default, and any number of them is `*tensors`.
std::string signature(const relax::OpDef& op);

}  // namespace relaxc::language_server
