// kernel_merging.h: several kernels become one that their calls share.
#pragma once

#include <cstddef>

#include "compiler/transform/pass.h"

namespace relaxc {

/// Merges kernels that are the same program but for numbers that cost nothing to be handed
/// (parameterize_constants.h). Long dims become symbols first.
Changed merge_kernels(relax::Module& module, PassContext& context);

/// Merges kernels that differ in extents as well, where the kernels that go are more code than what calls hand over.
/// \param most  sizes that one kernel is handed
Changed merge_kernels_of_sizes(relax::Module& module, PassContext& context, size_t most);

}  // namespace relaxc
