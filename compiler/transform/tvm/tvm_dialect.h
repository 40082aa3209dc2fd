// tvm_dialect.h: rewrites a module in the operators and statements that TVM has.
#pragma once

#include "compiler/relax/builder.h"

namespace relaxc {

/// Replaces every operator that TVM does not have in the same form by a call of a prim func, and statements that only
/// relaxc has by those that TVM reads. The module must have gone through expand_ops.
Status to_tvm_dialect(relax::Module& module, const relax::OpTable& ops, Diagnostics& diag);

/// Returns the text of such a module as TVM's parser reads it.
std::string tvm_text(const relax::Module& module);

}  // namespace relaxc
