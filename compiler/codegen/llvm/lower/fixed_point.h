// fixed_point.h: products of which the upper half is kept, rounded, in Helium's lanes.
//
// TIR has them as arithmetic of 64 bits, of which a vector of four lanes would need two. Scalars are left to LLVM,
// which makes smmulr of them. It also knows vmulh, but only where both operands are widened in the block that
// multiplies them, and those that do not change leave a loop before.
#pragma once

#include <optional>

#include "compiler/codegen/llvm/lower/values.h"

namespace relaxc::codegen_llvm {

class FixedPoint {
 public:
  FixedPoint(Frame& frame, LaneArithmetic& lanes, Values& values)
      : b_(frame.builder()), numeric_(frame.numeric()), lanes_(lanes), values_(values) {}

  /// A high product that rounds (compiler/arith/high_product.h), by vrmulh. Nothing: it is none, or not in such lanes.
  std::optional<Lanes> rounded_product(const arith::Cast& e);

 private:
  llvm::IRBuilder<>& b_;
  Numeric& numeric_;
  LaneArithmetic& lanes_;
  Values& values_;
};

}  // namespace relaxc::codegen_llvm
