// dead_code.h: the pass's work, for passes that count uses in the middle of their own.
#pragma once

#include "compiler/transform/pass.h"

namespace relaxc {

/// Removes operations whose results are not used, and private functions without callers. A pass that merely leaves
/// such operations behind has dead_code among its clean-ups instead (pipeline/pipelines.cpp).
Changed remove_dead_ops(relax::Module& module);

}  // namespace relaxc
