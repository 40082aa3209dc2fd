// bf16_dot.h: sums of two products of bfloat16 by the instructions that exist for them.
//
// vdpbf16ps adds the product of the upper halves and then that of the lower ones, each time rounding to nearest. ARM's
// bfdot adds the two products to each other and their sum to the lane, rounding to odd. Both take subnormals for zero
// and flush what becomes one, whatever the state of the processor says. What fits none is computed as it is written.
#pragma once

#include <optional>

#include "compiler/arith/dot.h"
#include "compiler/codegen/llvm/lower/memory.h"

namespace relaxc::codegen_llvm {

class BFloatProducts {
 public:
  BFloatProducts(Frame& frame, LaneArithmetic& lanes, Places& places, Values& values, Memory& memory)
      : b_(frame.builder()),
        numeric_(frame.numeric()),
        lanes_(lanes),
        places_(places),
        values_(values),
        memory_(memory) {}

  /// Nothing: it is not of that form, or there is no instruction for it.
  std::optional<Lanes> sum(const arith::Binary& e);

 private:
  llvm::IRBuilder<>& b_;
  Numeric& numeric_;
  LaneArithmetic& lanes_;
  Places& places_;
  Values& values_;
  Memory& memory_;
};

}  // namespace relaxc::codegen_llvm
