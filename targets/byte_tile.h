// byte_tile.h: which machines need hand-written inner loops for sums of products of bytes.
#pragma once

#include "targets/target.h"

namespace relaxc {

/// The instructions of such a loop.
enum class ByteTileForm : uint8_t {
  kNone,    ///< LLVM's code is good enough
  kThumb,   ///< Thumb of Cortex-M0 and M23: up to four sums, kept in high registers, which cannot be multiplied in
  kRiscv,   ///< 32-bit RISC-V: up to sixteen sums
  kHalves,  ///< Arm's DSP extension with a floating-point unit: up to six sums of products of pairs of 16-bit numbers
};

/// Returns the form for a machine; one with vectors has none. Defined in isa_features.cpp, which reads triples.
ByteTileForm byte_tile_form(const Target& target);

}  // namespace relaxc
