// fold_constants_early.cpp: evaluates operators with constant operands before patterns are recognized.
//
// Rows of recognize_patterns ask for numbers: the square root of 2, the axes of a mean, an epsilon. Exporters compute
// some of them by operators, which have to be numbers by then. What makes floats of stored integers stays as it is
// written until recognize_quantization has read it; fold_constants, behind that pass, evaluates the rest.
#include "compiler/transform/graph/fold_constants.h"
#include "compiler/transform/passes.h"

namespace relaxc {

Result<Changed> fold_constants_early(relax::Module& module, PassContext& context) {
  return evaluate_constants(module, context, StoredConstants::kKeep);
}

}  // namespace relaxc
