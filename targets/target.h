// target.h: what a machine is, as far as relaxc needs to know.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/support/result.h"
#include "targets/machine_model.h"

namespace relaxc {

/// How a vector of 32-bit sums takes products of bytes, best last. All are exact: none saturates.
enum class DotProduct : uint8_t {
  kNone,
  kPairs,     ///< two products of signed 16-bit numbers a lane, then added to the sum (pmaddwd; smlad does both)
  kSameSign,  ///< four of signed, or four of unsigned bytes a lane (sdot, udot)
  kMixed,     ///< four of unsigned by signed bytes a lane (vpdpbusd, usdot)
};

/// By width of the registers, since extensions come with some widths only; without vectors, bits128 is of one sum.
struct DotProducts {
  DotProduct bits128 = DotProduct::kNone, bits256 = DotProduct::kNone, bits512 = DotProduct::kNone;

  DotProduct of(int64_t bits) const {
    return bits == 512 ? bits512 : bits == 256 ? bits256 : bits == 128 ? bits128 : DotProduct::kNone;
  }
};

/// The register widths with instructions that add products of pairs of bfloat16 to float32 (vdpbf16ps, bfdot).
struct BFloatDots {
  bool bits128 = false, bits256 = false, bits512 = false;

  bool of(int64_t bits) const { return bits == 512 ? bits512 : bits == 256 ? bits256 : bits == 128 && bits128; }
};

/// A machine that code is generated for: its names, what its instruction set has, and its numbers.
struct Target : MachineModel {
  std::string triple;    ///< LLVM's, e.g. "x86_64-unknown-linux-gnu"
  std::string cpu;       ///< LLVM's CPU name; "native" is resolved before it comes here
  std::string features;  ///< LLVM's attribute string, may be empty
  int32_t pointer_bits = 64;
  int32_t vector_bits = 128;  ///< width of the registers that schedules use; 0: scalar
  int32_t vector_registers = 16;
  bool has_fma = false;
  DotProducts dots;
  BFloatDots bfloat_dots;
  bool byte_matrices = false;  ///< instructions that add products of 2x8 by 8x2 bytes to 2x2 int32 (smmla)
  int32_t task_slots = 8;      ///< most tasks of a parallel loop

  /// Loads and stores under a mask take no longer than others: AVX2 and AVX-512 have them as single instructions.
  bool masks_cheaply() const { return vector_bits >= 256; }
  int32_t lanes(int32_t element_bits) const { return vector_bits == 0 ? 1 : vector_bits / element_bits; }
};

}  // namespace relaxc
