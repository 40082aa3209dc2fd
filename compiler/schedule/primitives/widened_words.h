// widened_words.h: what the steps share that widen the bytes of dot products to 16 bits (widen_bytes,
// interleave_words).
#pragma once

#include "compiler/arith/dot.h"
#include "compiler/schedule/analysis/region.h"
#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

/// The dot product in `e` of four neighbours in `bytes` by a word of memory, if it is one.
std::optional<arith::Dot4> dot_of_bytes(Expr e, BufferRef bytes);
/// The buffer of the other operand of all such products in `s`; null if there is none, or several.
BufferRef words_of_bytes(Stmt s, BufferRef bytes);
size_t reads_of(Stmt s, BufferRef buffer);
/// The box of the bytes that the loop reads, if all of it exists and a copy made before the loop is the same.
Legal<Region> copyable_bytes(const Tree& tree, BufferRef bytes, uint32_t loop);

}  // namespace relaxc::schedule
