// register_transpose.h: nests that transpose, through squares of elements that are in registers.
#pragma once

#include <vector>

#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

/// The largest square along both loops, of at most this many lanes; 0: there is none.
int64_t square_tile_of(const Tree& tree, uint32_t along, uint32_t last, int64_t lanes);

/// Lanes are along the first of the loops, as the operands do, and the iterations of the last one, in each lane side by
/// side in the result, are unrolled: such stores are transposed (codegen/llvm/lower/interleaved.h). What is left over
/// at the edges becomes smaller squares where extents are known, and else is computed as it is defined.
///
/// \param loops  one directly inside of the other, which may have any order
/// \param line   elements that are read from each row before the next rows
Legal<> transpose_in_registers(Tree& tree, const std::vector<uint32_t>& loops, int64_t lanes, int64_t line);

}  // namespace relaxc::schedule
