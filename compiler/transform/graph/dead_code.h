// dead_code.h: removal of dead ops, for passes that need exact use-lists in the middle of their work.
#pragma once

#include "compiler/transform/pass.h"

namespace relaxc {

/// Removes ops whose results are not used, and private functions without callers. A pass that merely leaves dead ops
/// behind has dead_code among its clean-ups instead (pipeline/pipelines.cpp).
Changed remove_dead_ops(relax::Module& module);

}  // namespace relaxc
