// kernel_merging.h: merges kernels into one that their calls share.
#pragma once

#include <cstddef>

#include "compiler/transform/pass.h"

namespace relaxc {

/// Merges kernels that are equal except for constants that cost nothing as parameters (parameterize_constants.h). Long
/// dims become symbols first.
Changed merge_kernels(relax::Module& module, PassContext& context);

/// Merges kernels that differ in extents as well, if the code that goes is more than the arguments that calls add.
/// \param most  sizes that become parameters of one kernel
Changed merge_kernels_of_sizes(relax::Module& module, PassContext& context, size_t most);

}  // namespace relaxc
