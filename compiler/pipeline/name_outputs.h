// name_outputs.h: the pass that records the names of outputs of entry points.
#pragma once

#include "compiler/transform/pass.h"

namespace relaxc {

/// Gives every entry point the attribute "output_names": a name for each tensor that it returns, all of them distinct.
/// Existing names are kept. Needs kTyped.
Result<Changed> name_outputs(relax::Module&, PassContext&);

}  // namespace relaxc
