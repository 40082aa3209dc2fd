// vector_expression.h: prints expressions over all lanes of a vectorized loop with the vector types of GCC and clang.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/codegen/c/expression.h"

namespace relaxc::codegen_c {

/// Prints the expressions of one statement as operations on vectors with one element a lane. What is uniform over the
/// lanes is printed as a scalar by `Expressions` and broadcast; a comparison is a vector with elements as wide as those
/// that it compares, each all ones or all zeros.
class VectorExpression {
 public:
  /// `mask`, if not empty, names a vector of 32-bit integers that is set in active lanes. Memory is read and written in
  /// active lanes alone; values of the others are never used.
  VectorExpression(Expressions& scalars, Names& names, const tir::Lanes& lanes, int64_t count, std::string mask = {})
      : scalars_(scalars), names_(names), lanes_(lanes), count_(count), mask_(std::move(mask)) {}

  /// Whether there is a vector type of this dtype with as many elements as there are lanes.
  bool has_type(DType dtype) const;
  /// Whether all of `e` can be printed as vectors; if not, its statement is printed as a loop over lanes.
  bool can(arith::Expr e);
  /// Whether an index can be computed although some lanes are not active.
  bool can_index(arith::Expr e) const;
  /// Whether the elements of the lanes are contiguous.
  bool can_store(tir::BufferRef buffer, const std::vector<arith::Expr>& indices) const;

  /// Returns declarations of the nodes that `e` uses more than once.
  std::vector<std::string> share(arith::Expr e);
  std::string text(arith::Expr e);
  /// Returns the address of the element of lane 0.
  std::string place(tir::BufferRef buffer, const std::vector<arith::Expr>& indices);
  /// Returns a statement that stores the vector `value`.
  std::string stored(tir::BufferRef buffer, const std::vector<arith::Expr>& indices, const std::string& value);
  std::string stored(DType dtype, const std::string& place, const std::string& value);
  /// Returns a condition as a vector of elements of `bits` bits.
  std::string mask(arith::Expr e, int bits);
  std::string type(DType dtype);

 private:
  bool is_uniform(arith::Expr e) const { return lanes_.step(e) == tir::Lanes::Step(0); }
  bool can_compute(arith::Expr e);
  bool can_load(const arith::Load& n) const;
  bool can_call(const arith::Call& n) const;
  void collect(arith::Expr root);
  std::string print(arith::Expr e);
  std::string load(const arith::Load& n);
  std::string binary(const arith::Binary& n);
  std::string select(const arith::Select& n);
  std::string call(const arith::Call& n);
  std::string angle(const arith::Extern& n);
  std::string spread(arith::Expr e);
  bool can_compare(const arith::Binary& n);
  std::string compare_indices(const arith::Binary& n);
  std::string lanes_that_run(DType dtype);
  int mask_bits(arith::Expr e) const;
  std::string helper(const std::string& operation, DType dtype);

  Expressions& scalars_;
  Names& names_;
  const tir::Lanes& lanes_;
  int64_t count_;
  std::string mask_;
  std::unordered_map<arith::Expr, bool> can_;
  std::unordered_map<arith::Expr, int> uses_;
  std::unordered_map<arith::Expr, std::string> temporaries_;
  std::vector<arith::Expr> order_, uniform_;
};

}  // namespace relaxc::codegen_c
