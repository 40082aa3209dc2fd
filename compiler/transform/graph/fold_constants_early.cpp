// fold_constants_early.cpp: evaluates operators with constant operands before patterns are recognized.
//
// Rows of recognize_patterns need numbers: the square root of 2, the axes of a mean, an epsilon. Exporters compute some
// of them by operators, so these are evaluated before. Ops that make floats of stored integers stay as they are written
// until recognize_quantization has read them; fold_constants, after that pass, evaluates the rest.
#include "compiler/transform/graph/fold_constants.h"
#include "compiler/transform/passes.h"

namespace relaxc {

Result<Changed> fold_constants_early(relax::Module& module, PassContext& context) {
  return evaluate_constants(module, context, StoredConstants::kKeep);
}

}  // namespace relaxc
