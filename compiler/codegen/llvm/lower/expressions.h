// expressions.h: lowers one node of an expression, given its operands.
#pragma once

#include <optional>

#include "compiler/codegen/llvm/lower/angles.h"
#include "compiler/codegen/llvm/lower/dot.h"
#include "compiler/codegen/llvm/lower/external_calls.h"
#include "compiler/codegen/llvm/lower/fixed_point.h"
#include "compiler/codegen/llvm/lower/matrix_dot.h"
#include "compiler/codegen/llvm/lower/memory.h"
#include "compiler/codegen/llvm/lower/selects.h"

namespace relaxc::codegen_llvm {

class Expressions {
 public:
  Expressions(Frame& frame, LaneArithmetic& lanes, Bindings& bindings, Values& values, OverflowChecks& checks,
              BufferAddresses& addresses, Memory& memory, ExternalCalls& externals);

  /// Lowers `e`. Operands come from Values, which lowers each node once and has the values of variables.
  Lanes compute(arith::Expr e) { return lanes_.indices().as(e, by_kind(e)); }

 private:
  Lanes by_kind(arith::Expr e);
  Lanes binary(const arith::Binary& e);
  Lanes divide_index(const arith::Binary& e, arith::Expr whole);
  Lanes index_binary(const arith::Binary& e, Lanes a, Lanes b);
  Lanes unchecked(arith::ExprKind kind, Lanes a, Lanes b);
  std::optional<Lanes> compare_lanes(const arith::Binary& e, Lanes a, Lanes b);  ///< nullopt if it is not of that form
  llvm::Value* distance(llvm::Value* from, llvm::Value* to, int64_t most);
  /// Whether the ranges of loop variables and symbols prove it.
  bool fits_32_bits(arith::Expr index);
  Lanes cast(const arith::Cast& e);
  std::optional<Lanes> stored_float(const arith::Cast& e);  ///< nullopt if of another form or without instruction
  llvm::Value* nearest_integer(llvm::Value* real);
  llvm::Value* nearest_integers(llvm::Value* reals);
  Lanes call(const arith::Call& e, arith::Expr whole);

  llvm::IRBuilder<>& b_;
  Numeric& numeric_;
  LaneArithmetic& lanes_;
  Bindings& bindings_;
  Values& values_;
  OverflowChecks& checks_;
  Memory& memory_;
  ExternalCalls& externals_;
  Selects selects_;
  Angles angles_;
  DotProducts dots_;
  MatrixProducts matrices_;
  FixedPoint fixed_point_;
};

}  // namespace relaxc::codegen_llvm
