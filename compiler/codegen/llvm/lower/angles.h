// angles.h: reduces angles that are too large for the fast reduction (compiler/arith/angle.h).
//
// They are rare: all lanes are compared at once, and a branch calls the runtime, which replaces the results of the
// large angles. One call gives both the remainder and the quadrant.
#pragma once

#include <utility>

#include "compiler/codegen/llvm/lower/values.h"

namespace relaxc::codegen_llvm {

class Angles {
 public:
  Angles(Frame& frame, LaneArithmetic& lanes, Values& values)
      : frame_(frame), b_(frame.builder()), lanes_(lanes), values_(values) {}

  /// Returns the value of a call of arith::kAngleRest or arith::kAngleQuadrant, and remembers the value of the other.
  Lanes reduced(const arith::Extern& e);

 private:
  std::pair<llvm::Value*, llvm::Value*> reduce(llvm::Value* x, llvm::Value* rest, llvm::Value* quadrant);

  Frame& frame_;
  llvm::IRBuilder<>& b_;
  LaneArithmetic& lanes_;
  Values& values_;
};

}  // namespace relaxc::codegen_llvm
