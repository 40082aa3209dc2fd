// rows.h: the rows that a kernel's loops iterate over.
//
// Two kernels that iterate over the same rows can be one that computes both a row at a time, while the row is in cache.
#pragma once

#include <vector>

#include "compiler/tir/prim_func.h"

namespace relaxc::analysis {

/// Returns how many outermost loops of every nest are, in order, the leading subscripts of all accesses to `buffers`,
/// to `results` and to allocations around all nests: 2 for a kernel that writes [n, m] element by element, 1 for one
/// that sums its rows, 0 if there are none in common. Nests without such accesses do not count.
size_t common_rows(const tir::PrimFunc& function, const std::vector<tir::BufferRef>& buffers,
                   const std::vector<tir::BufferRef>& results);
/// Whether every nest that is not element-wise writes one element for each of the first `rows` dims. False for a
/// product of matrices, whose rows read all of the other operand.
bool reduces_within_rows(const tir::PrimFunc& function, const std::vector<tir::BufferRef>& results, size_t rows);
/// Whether some nest reads a different element of `buffer` in each iteration of its loops.
bool reads_in_full(const tir::PrimFunc& function, tir::BufferRef buffer);

}  // namespace relaxc::analysis
