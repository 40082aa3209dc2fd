// needed.h: which elements of each buffer of a kernel are needed for some elements of its results.
#pragma once

#include <map>
#include <vector>

#include "compiler/proof/kernels/index_set.h"
#include "compiler/proof/kernels/store_sites.h"

namespace relaxc::proof {

/// For each buffer, a set for each dim: an element is needed only if all of its subscripts are in the sets. No element
/// is needed of a buffer that is not listed. Subscripts beyond the buffer are always needed, so that a run that leaves
/// out other elements still meets them.
using NeededElements = std::map<tir::BufferRef, std::vector<IndexSet>>;

/// \param results  the elements of buffers that callers see
/// \param facts    the sizes
NeededElements needed_elements(const StoreSites& sites, const NeededElements& results, const arith::Facts& facts);

}  // namespace relaxc::proof
