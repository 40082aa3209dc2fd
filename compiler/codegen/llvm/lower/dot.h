// dot.h: lowers sums of products of bytes and of bfloat16 (bf16_dot.cpp) to dot product instructions.
//
// vpdpbusd and usdot add four products to a 32-bit sum without rounding or saturating; ARM's older sdot takes only
// signed bytes. Without any of them, bytes are widened to 16 bits and pmaddwd adds pairs of products in 32 bits;
// pmaddubsw would need one step less, but silently saturates the sum of two products to 16 bits. A scalar sum takes two
// products at a time by smlad, and eight or sixteen by Helium's vmladava. Sums for which there is no instruction are
// lowered as they are written.
#pragma once

#include <optional>

#include "compiler/arith/dot.h"
#include "compiler/codegen/llvm/lower/memory.h"

namespace relaxc::codegen_llvm {

class DotProducts {
 public:
  DotProducts(Frame& frame, LaneArithmetic& lanes, BufferAddresses& addresses, Values& values, Memory& memory)
      : b_(frame.builder()),
        numeric_(frame.numeric()),
        lanes_(lanes),
        addresses_(addresses),
        values_(values),
        memory_(memory) {}

  /// Lowers the sum; nullopt if it is not of such a form or the CPU has no instruction for it.
  std::optional<Lanes> sum(const arith::Binary& e);

 private:
  /// A load of eight consecutive bytes, and the 64-bit word of eight bytes that they are multiplied by.
  struct Eight {
    const arith::Load *bytes = nullptr, *word = nullptr;
    bool signed_word = true;
  };

  std::optional<Lanes> of_bytes(const arith::Binary& e);
  std::optional<Lanes> of_bfloats(const arith::Binary& e);
  llvm::Intrinsic::ID intrinsic_of(DotProduct kind) const;
  llvm::Value* word_of(const arith::Dot4& dot);
  llvm::Value* of_quads(llvm::Intrinsic::ID intrinsic, llvm::Value* sum, llvm::Value* a, llvm::Value* b);
  llvm::Value* of_pairs(llvm::Value* a, llvm::Value* b);
  std::optional<Lanes> of_wide_pairs(const arith::Binary& e);
  std::optional<Lanes> of_scalars(const arith::Binary& e);
  std::optional<Lanes> of_pairs_in_memory(const arith::Binary& e);
  std::optional<Lanes> of_halves(const arith::Binary& e);
  std::optional<Lanes> of_lane_sums(const arith::Binary& e);
  static std::optional<Eight> eight_of(arith::Expr e);
  llvm::Value* lane_sum(llvm::Value* sum, const Eight& first, unsigned count);
  llvm::Value* of_same_sign(llvm::Value* sum, llvm::Value* a, llvm::Value* b);

  llvm::IRBuilder<>& b_;
  Numeric& numeric_;
  LaneArithmetic& lanes_;
  BufferAddresses& addresses_;
  Values& values_;
  Memory& memory_;
};

}  // namespace relaxc::codegen_llvm
