// pivot.h: elimination with partial pivoting: checks its operand, finds and exchanges rows.
#pragma once

#include "compiler/ops/common/family.h"

namespace relaxc::ops {

/// Returns the first operand; fails unless it is square matrices [..., n, n] of floats.
Result<const TensorInfo*> square_matrices(InferContext& c);

/// The rows of one matrix [n, width] of floats, whose columns are eliminated from left to right.
class PivotRows {
 public:
  /// `pivot`: a local int64 buffer of one element, for the row that is found.
  PivotRows(tir::Builder& b, BufferRef m, BufferRef pivot) : b_(b), m_(m), pivot_(pivot) {}

  Expr at(Expr row, Expr column) { return b_.load(m_, {row, column}); }
  /// Finds the row in [k, n) with the largest magnitude in column k; of equal ones the first.
  Stmt find(Var k);
  /// Emits `use` for the row that was found.
  Stmt with_found(const std::function<Stmt(Var row)>& use);
  /// Exchanges two rows.
  Stmt exchange(Expr a, Expr b);

 private:
  tir::Builder& b_;
  BufferRef m_, pivot_;
};

}  // namespace relaxc::ops
