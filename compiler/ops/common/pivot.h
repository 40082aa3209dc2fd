// pivot.h: elimination with partial pivoting: what it takes, which row comes next, and its exchange.
#pragma once

#include "compiler/ops/common/family.h"

namespace relaxc::ops {

/// The first operand, which must be square matrices [..., n, n] of floats.
Result<const TensorInfo*> square_matrices(InferContext& c);

/// The rows of one matrix [n, width] of floats while columns are eliminated from left to right.
class PivotRows {
 public:
  /// `pivot`: a local int64 of one element.
  PivotRows(tir::Builder& b, BufferRef m, BufferRef pivot) : b_(b), m_(m), pivot_(pivot) {}

  Expr at(Expr row, Expr column) { return b_.load(m_, {row, column}); }
  /// Finds the row from k on with the largest element in column k, the first of equal ones.
  Stmt find(Var k);
  /// Runs `use` with the row that was found.
  Stmt with_found(const std::function<Stmt(Var row)>& use);
  /// Exchanges two rows as wholes.
  Stmt exchange(Expr a, Expr b);

 private:
  tir::Builder& b_;
  BufferRef m_, pivot_;
};

}  // namespace relaxc::ops
