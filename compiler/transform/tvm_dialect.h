// tvm_dialect.h: a module in the operators and statements that TVM has.
#pragma once

#include "compiler/relax/builder.h"

namespace relaxc {

/// Makes of every operator that TVM does not have in the same form a call of a prim func, and of statements that only
/// relaxc has ones that TVM reads. Needs a module behind expand_ops.
Status to_tvm_dialect(relax::Module& module, const relax::OpTable& ops, Diagnostics& diag);

/// The text of such a module as TVM's parser takes it.
std::string tvm_text(const relax::Module& module);

}  // namespace relaxc
