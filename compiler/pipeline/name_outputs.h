// name_outputs.h: the pass that writes down what the outputs of entry points are called.
#pragma once

#include "compiler/transform/pass.h"

namespace relaxc {

/// Gives every entry point the attribute "output_names": a name for each tensor that it returns, all of them distinct.
/// Names that are there stay. Needs kTyped.
Result<Changed> name_outputs(relax::Module&, PassContext&);

}  // namespace relaxc
