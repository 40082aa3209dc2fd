// dot_word.h: sums of products of bytes in which one operand is a word of memory.
#pragma once

#include "compiler/arith/dot.h"
#include "compiler/tir/buffer.h"

namespace relaxc::tir {

/// Returns the load of the first of four unsigned bytes if they are contiguous in one buffer; else null.
const arith::Load* word_of(const arith::Dot4& dot);
/// Returns the load of the first of two 16-bit numbers if they are contiguous in one buffer; else null.
const arith::Load* pairs_of(const arith::PairDot& dot);
/// Returns the load of the first of eight bytes if they are contiguous in one buffer; else null.
const arith::Load* octet_of(const arith::Dot8& dot);

}  // namespace relaxc::tir
