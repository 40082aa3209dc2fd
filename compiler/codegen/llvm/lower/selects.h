// selects.h: conditional expressions (selects).
//
// Operands of a select, an `and` or an `or` that read memory are evaluated only if they are needed, since the condition
// often guards against a subscript outside of the buffer: by a branch in scalar code, by masked loads in vector code.
// All other operands are evaluated unconditionally, and one is selected.
#pragma once

#include <functional>

#include "compiler/codegen/llvm/lower/checks.h"
#include "compiler/codegen/llvm/lower/values.h"

namespace relaxc::codegen_llvm {

/// Lowers selects, `and` and `or`.
class Selects {
 public:
  Selects(Frame& frame, LaneArithmetic& lanes, Values& values, OverflowChecks& checks)
      : frame_(frame), b_(frame.builder()), lanes_(lanes), values_(values), checks_(checks) {}

  Lanes select(const arith::Select& e);
  Lanes both(const arith::And& e);
  Lanes either(const arith::Or& e);

 private:
  using Operand = std::function<Lanes()>;  ///< emits the code of one operand
  /// The value of one arm of a branch, and the block in which it ends.
  struct Arm {
    Lanes value;
    llvm::BasicBlock* end;
  };
  Lanes short_circuit(const arith::Binary& e);
  Lanes lazily(arith::Expr condition, const Operand& then_value, const Operand& else_value, DType dtype);
  Lanes by_mask(llvm::Value* decided, const Operand& then_value, const Operand& else_value, DType dtype);
  Arm arm(llvm::BasicBlock* begin, const Operand& operand);
  llvm::Value* flag_of(const Lanes& value) { return value.overflow != nullptr ? value.overflow : b_.getFalse(); }

  Frame& frame_;
  llvm::IRBuilder<>& b_;
  LaneArithmetic& lanes_;
  Values& values_;
  OverflowChecks& checks_;
};

}  // namespace relaxc::codegen_llvm
