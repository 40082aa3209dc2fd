// fixed_point.h: rounded upper halves of products, by Helium's instruction for them.
//
// TIR computes them in 64 bits, which would take two registers for a vector of four lanes. Scalars are left to LLVM,
// which selects smmulr. LLVM also selects vmulh, but only if both operands are widened in the block that multiplies
// them, and loop-invariant operands are widened before the loop.
#pragma once

#include <optional>

#include "compiler/codegen/llvm/lower/values.h"

namespace relaxc::codegen_llvm {

class FixedPoint {
 public:
  FixedPoint(Frame& frame, LaneArithmetic& lanes, Values& values)
      : b_(frame.builder()), numeric_(frame.numeric()), lanes_(lanes), values_(values) {}

  /// Lowers a rounded high product (compiler/arith/high_product.h) to vrmulh; nullopt if `e` is none or not in 4 lanes.
  std::optional<Lanes> rounded_product(const arith::Cast& e);

 private:
  llvm::IRBuilder<>& b_;
  Numeric& numeric_;
  LaneArithmetic& lanes_;
  Values& values_;
};

}  // namespace relaxc::codegen_llvm
