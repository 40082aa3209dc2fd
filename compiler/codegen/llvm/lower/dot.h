// dot.h: sums of products of bytes and of bfloat16 (bf16_dot.cpp) by the instructions that exist for them.
//
// vpdpbusd and usdot add four products to a 32-bit sum without rounding or saturating. ARM's older sdot takes signed
// bytes alone. Without either, bytes are widened to 16 bits and pmaddwd adds pairs of their products in 32 bits;
// pmaddubsw would do it in one step less, but it saturates sums of two products at 16 bits silently. What fits none is
// computed as it is written. A single sum takes two products at once by smlad, and
// eight or sixteen by Helium's vmladava.
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

  /// Nothing: it is not of that form, or there is no instruction for it.
  std::optional<Lanes> sum(const arith::Binary& e);

 private:
  /// Eight bytes in place by a word of eight.
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
