// packed_contents.h: what a constant holds that the compiler has packed (compiler/schedule/packing.h), in terms of the
// constant that it was.
#pragma once

#include "compiler/proof/kernels/memory.h"
#include "compiler/schedule/packing.h"

namespace relaxc::proof {

/// The elements of the packed tensor.
///
/// \param source  the elements of the tensor as it was, of `dtype`
/// \return  null: there are too many of them
Contents packed_contents(Algebra& algebra, const schedule::Packing& packing, DType dtype, const Contents& source);

}  // namespace relaxc::proof
