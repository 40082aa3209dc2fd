// deduplicate_kernels.cpp: merges kernels that are the same program.
//
// A transformer repeats its blocks, and every block has kernels of the same shapes. Legalizing gives each call a prim
// func of its own; this pass merges those whose text is the same, except for the name, so that they are scheduled,
// compiled and stored once. The text is the criterion because it is what is compiled: it has all of a function but the
// identity of its variables.
//
// Quantized layers differ in bounds that come from their zero points, and in nothing else. Kernels whose text is the
// same except for such numbers become one that takes those that differ as parameters (parameterize_constants.h says
// which cost nothing there). Operands must be constants in all calls or in none, since constant weights get packed.
//
// Computed dims become symbols first (parameterize_constants.h).
//
// If only size counts (the option `sizes`), layers that differ in extents share a kernel as well, which takes these as
// parameters; parameterize_constants.h says what that costs. No tile has such an extent: deduplicate_scheduled_kernels
// shares kernels with tiles. Dims of operands need no parameters in Relax, but they are arguments of the code as the
// others are: small kernels with many calls stay several.
#include "compiler/transform/graph/fusion/kernel_merging.h"
#include "compiler/transform/passes.h"

namespace relaxc {

Result<Changed> deduplicate_kernels(relax::Module& module, PassContext& context) {
  Changed changed = merge_kernels(module, context);
  if (const int64_t most = context.option(kDeduplicateSizes); most != 0)
    changed |= merge_kernels_of_sizes(module, context, static_cast<size_t>(most));
  return changed;
}

}  // namespace relaxc
