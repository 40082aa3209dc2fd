// angles.h: angles that are too large for the quick reduction (compiler/arith/angle.h).
//
// A branch that is hardly ever taken: one comparison of all lanes, and a call of the runtime that puts in what the
// large ones need. Rest and quadrant come from one call.
#pragma once

#include <utility>

#include "compiler/codegen/llvm/lower/values.h"

namespace relaxc::codegen_llvm {

class Angles {
 public:
  Angles(Frame& frame, LaneArithmetic& lanes, Values& values)
      : frame_(frame), b_(frame.builder()), lanes_(lanes), values_(values) {}

  /// What a call of arith::kAngleRest or arith::kAngleQuadrant gives; the other is remembered.
  Lanes reduced(const arith::Extern& e);

 private:
  std::pair<llvm::Value*, llvm::Value*> reduce(llvm::Value* x, llvm::Value* rest, llvm::Value* quadrant);

  Frame& frame_;
  llvm::IRBuilder<>& b_;
  LaneArithmetic& lanes_;
  Values& values_;
};

}  // namespace relaxc::codegen_llvm
