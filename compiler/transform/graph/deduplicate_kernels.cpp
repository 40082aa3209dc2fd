// deduplicate_kernels.cpp: kernels that are the same program become one.
//
// A transformer repeats its blocks, and every block has kernels of the same shapes. Legalizing gives each call a prim
// func of its own; here those whose text is the same, except for the name, are made one, so that they are scheduled,
// compiled and stored once. The text is the criterion because it is what is compiled: it says all of a function but the
// identity of its variables.
//
// Quantized layers differ in bounds that come of their zero points, and in nothing else. Kernels whose text is the same
// except for such numbers become one that is handed those that differ (parameterize_constants.h says which cost nothing
// there). Operands have to be constants in all calls or in none, since weights that are constants get packed.
//
// Long dims, as data decides them, become symbols first (parameterize_constants.h).
//
// Where size is all that counts (the option `sizes`), layers that differ in extents share a kernel as well, which is
// handed them; parameterize_constants.h says what that costs. No tile has such an extent: deduplicate_scheduled_kernels
// shares what has tiles. Dims of operands reach a kernel without being handed, but they
// are arguments of the code as the others are: small kernels with many calls stay several.
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
