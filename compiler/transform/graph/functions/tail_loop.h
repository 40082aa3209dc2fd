// tail_loop.h: turns tail recursion into a loop.
#pragma once

#include "compiler/transform/graph/functions/tail_tree.h"
#include "compiler/transform/pass.h"

namespace relaxc {

/// Turns calls of `function` by itself in tail position into one loop; those in other places stay calls. Changes
/// nothing if there are none, or if results would have to be carried that have no placeholder (an R.Any). The body must
/// have a path that ends.
Result<Changed> make_tail_loop(relax::Module& module, relax::Function& function, PassContext& context);

/// Returns a value of `info`, a leaf of known dims, whose contents are not used: zeros, made at the end of `to`.
Result<relax::Value*> placeholder(relax::Module& module, relax::Info info, relax::Block* to, PassContext& context);
/// Whether `placeholder` can make a value of `info`.
bool has_placeholder(relax::Info info);

}  // namespace relaxc
