// expand_ops.cpp: replaces operators that are defined by other operators.
//
// LSTM, norms and most function-body operators of ONNX are defined by expansion, so that later passes (folding, fusion,
// schedules) see the matmuls inside. rewriting/expansion.cpp is how.
#include "compiler/transform/graph/rewriting/expansion.h"
#include "compiler/transform/passes.h"

namespace relaxc {

Result<Changed> expand_ops(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  for (relax::Function* function : module.functions()) {
    RELAXC_TRY(Changed here, expand_operators(module, *function, context, [](const relax::OpDef&) { return true; }));
    changed |= here;
  }
  return changed;
}

}  // namespace relaxc
