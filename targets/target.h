// target.h: what the compiler knows of the machine that it generates code for.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/support/result.h"
#include "targets/machine_model.h"

namespace relaxc {

/// How a vector of 32-bit sums accumulates products of bytes, from worst to best. All are exact: none saturates.
enum class DotProduct : uint8_t {
  kNone,
  kPairs,     ///< two products of signed 16-bit numbers per lane, then added to the sum (pmaddwd; smlad does both)
  kSameSign,  ///< four products per lane, all of signed or all of unsigned bytes (sdot, udot)
  kMixed,     ///< four products per lane, of unsigned by signed bytes (vpdpbusd, usdot)
};

/// The kind for each register width, since extensions have only some; without vectors, bits128 is for a scalar sum.
struct DotProducts {
  DotProduct bits128 = DotProduct::kNone, bits256 = DotProduct::kNone, bits512 = DotProduct::kNone;

  DotProduct of(int64_t bits) const {
    return bits == 512 ? bits512 : bits == 256 ? bits256 : bits == 128 ? bits128 : DotProduct::kNone;
  }
};

/// The register widths that have instructions to add products of pairs of bfloat16 to float32 (vdpbf16ps, bfdot).
struct BFloatDots {
  bool bits128 = false, bits256 = false, bits512 = false;

  bool of(int64_t bits) const { return bits == 512 ? bits512 : bits == 256 ? bits256 : bits == 128 && bits128; }
};

/// A machine that code is generated for: LLVM's names for it, its instructions, and the numbers of its model.
struct Target : MachineModel {
  std::string triple;    ///< LLVM's, e.g. "x86_64-unknown-linux-gnu"
  std::string cpu;       ///< LLVM's CPU name; "native" is resolved before it comes here
  std::string features;  ///< LLVM's attribute string, may be empty
  int32_t pointer_bits = 64;
  int32_t vector_bits = 128;  ///< width of the registers that schedules use; 0 for scalar code
  int32_t vector_registers = 16;
  bool has_fma = false;
  DotProducts dots;
  BFloatDots bfloat_dots;
  bool byte_matrices = false;  ///< instructions that add products of 2x8 by 8x2 bytes to 2x2 int32 (smmla)
  int32_t task_slots = 8;      ///< maximum tasks of a parallel loop

  /// Returns whether masked loads and stores cost no more than others: AVX2 and AVX-512 have them as one instruction.
  bool masks_cheaply() const { return vector_bits >= 256; }
  int32_t lanes(int32_t element_bits) const { return vector_bits == 0 ? 1 : vector_bits / element_bits; }
};

}  // namespace relaxc
