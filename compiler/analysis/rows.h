// rows.h: which rows a kernel goes through, read from its loops.
//
// Two kernels that go through the same rows can be one that does both a row at a time, while the row is in the cache.
#pragma once

#include <vector>

#include "compiler/tir/prim_func.h"

namespace relaxc::analysis {

/// How many of the outermost loops of every nest are, in order, the leading subscripts wherever the nest touches one of
/// `buffers`, a result, or an allocation around all nests: 2 for a kernel that writes [n, m] element by element, 1 for
/// one that sums its rows, 0 if there are none in common. Nests that touch none of them do not count.
size_t common_rows(const tir::PrimFunc& function, const std::vector<tir::BufferRef>& buffers,
                   const std::vector<tir::BufferRef>& results);
/// Whether everything that is summed, or computed in any other order than element by element, gives one element for
/// each of the first `rows` dims. False for a product of matrices, whose rows meet all of the other operand.
bool reduces_within_rows(const tir::PrimFunc& function, const std::vector<tir::BufferRef>& results, size_t rows);
/// Whether some nest reads another element of `buffer` in each iteration of its loops.
bool reads_in_full(const tir::PrimFunc& function, tir::BufferRef buffer);

}  // namespace relaxc::analysis
