// mark_overlaps.cpp: records how far the result of each kernel must stay from operands that it overwrites.
//
// Memory planning finds out which operands end with a call, and lets the result overlap one of them. A kernel that does
// so is compiled without the assumption that the two are apart, which costs a few instructions where loads could
// otherwise come after stores. Machines of 64 bits have memory enough not to pay that.
#include "compiler/analysis/overlaps.h"
#include "compiler/transform/passes.h"

namespace relaxc {

Result<Changed> mark_overlaps(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  if (context.target.pointer_bits > 32) return changed;
  for (tir::PrimFunc* kernel : module.prim_funcs()) {
    if (!analysis::may_overlap(*kernel)) continue;
    kernel->memory.overlaps = analysis::overlaps_of(*kernel);
    if (!kernel->memory.overlaps.empty()) changed = Changed::kYes;
  }
  return changed;
}

}  // namespace relaxc
