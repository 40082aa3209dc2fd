// packed_contents.h: the contents of a constant that the compiler has packed (compiler/schedule/packing.h), in terms of
// the original constant's elements.
#pragma once

#include "compiler/proof/kernels/memory.h"
#include "compiler/schedule/packing.h"

namespace relaxc::proof {

/// Returns the elements of the packed tensor.
///
/// \param source returns the elements of the original tensor, which are of `dtype`
/// \return null if there are too many elements
Contents packed_contents(Algebra& algebra, const schedule::Packing& packing, DType dtype, const Contents& source);

}  // namespace relaxc::proof
