// byte_tile.h: loops of sums of products of bytes that are better written than left to LLVM.
#pragma once

#include "targets/target.h"

namespace relaxc {

/// The instructions of such a loop.
enum class ByteTileForm : uint8_t {
  kNone,   ///< those of LLVM
  kThumb,  ///< Thumb's first version: up to four sums, in registers beyond the eight that it multiplies in
  kRiscv,  ///< RISC-V of 32 bits: up to sixteen sums
};

/// The form for a machine; those with vectors have none. (isa_features.cpp reads what a triple says.)
ByteTileForm byte_tile_form(const Target& target);

}  // namespace relaxc
