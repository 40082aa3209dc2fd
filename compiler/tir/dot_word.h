// dot_word.h: products of bytes where one operand is a word of memory.
#pragma once

#include "compiler/arith/dot.h"
#include "compiler/tir/buffer.h"

namespace relaxc::tir {

/// The load of the first unsigned byte, if there are four that are side by side in one buffer; else null.
const arith::Load* word_of(const arith::Dot4& dot);
/// The same of the first 16-bit number.
const arith::Load* pairs_of(const arith::PairDot& dot);
/// The same of eight bytes.
const arith::Load* octet_of(const arith::Dot8& dot);

}  // namespace relaxc::tir
