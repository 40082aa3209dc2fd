// register_transpose.h: transposes by square tiles in registers.
#pragma once

#include <vector>

#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

/// The side of the largest square along both loops, at most `lanes`; 0 if there is none.
int64_t square_tile_of(const Tree& tree, uint32_t along, uint32_t last, int64_t lanes);

/// Vectorizes the first of the loops, along which the operands are contiguous, and unrolls the last one, along which
/// the result is contiguous: the backend transposes such stores (codegen/llvm/lower/interleaved.h). The remainders at
/// the edges become smaller squares if extents are known, and stay scalar otherwise.
///
/// \param loops  perfectly nested, in any legal order
/// \param line   the number of elements that are read from each row before the next rows
Legal<> transpose_in_registers(Tree& tree, const std::vector<uint32_t>& loops, int64_t lanes, int64_t line);

}  // namespace relaxc::schedule
