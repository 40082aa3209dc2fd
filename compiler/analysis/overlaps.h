// overlaps.h: operands that the result of a kernel may overwrite while the kernel runs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/tir/prim_func.h"

namespace relaxc::analysis {

/// Returns the size in bytes of a compact buffer whose dims are numbers and whose elements have whole bytes; nullopt
/// for any other buffer.
std::optional<int64_t> known_bytes(const tir::Buffer& buffer);

/// Whether it is a kernel of the program itself whose callers may let its result overlap operands.
bool may_overlap(const tir::PrimFunc& kernel);

/// Returns the operands of a kernel whose memory its last buffer parameter before scratch memory, the result, may share
/// in part, each with the least distance at which no load finds anything overwritten. Only operands and results of
/// constant size, of one dtype unless one of them has elements of a byte; and only where sharing saves memory.
///
/// The kernel must run its statements in the order of the text, with its parallel and vectorized loops in any order.
/// Loops without loops inside count as if all their stores came before their loads, so that they may be copied by
/// memcpy.
std::vector<tir::Overlap> overlaps_of(const tir::PrimFunc& kernel);

}  // namespace relaxc::analysis
