// expansion.h: replaces operators that are defined by other operators.
#pragma once

#include "compiler/transform/pass.h"

namespace relaxc {

/// Replaces each operator of `function` that has an expansion and for which `wanted` is true, and again those that it
/// becomes. Needs kTyped.
Result<Changed> expand_operators(relax::Module& module, relax::Function& function, PassContext& context,
                                 bool (*wanted)(const relax::OpDef&));

}  // namespace relaxc
