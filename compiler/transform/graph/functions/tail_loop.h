// tail_loop.h: a function whose calls of itself are its last acts becomes a loop.
#pragma once

#include "compiler/transform/graph/functions/tail_tree.h"
#include "compiler/transform/pass.h"

namespace relaxc {

/// Calls of `function` by itself in tail position become one loop; those in other places stay calls. Changes nothing
/// where there are none, or where results would have to be carried that have no first value (an R.Any).
/// The body must have a path that ends.
Result<Changed> make_tail_loop(relax::Module& module, relax::Function& function, PassContext& context);

/// A value of `info`, a leaf whose dims are known, that is not used: zeros, at the end of `to`.
Result<relax::Value*> placeholder(relax::Module& module, relax::Info info, relax::Block* to, PassContext& context);
/// Whether there is such a value.
bool has_placeholder(relax::Info info);

}  // namespace relaxc
