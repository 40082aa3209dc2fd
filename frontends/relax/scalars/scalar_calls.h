// scalar_calls.h: reads the functions of scalar expressions: T.max, T.Cast, T.exp and the like.
#pragma once

#include "frontends/relax/scalars/scalar.h"

namespace relaxc::frontend {

/// Reads one call. The ScalarReader that met the call reads its operands, and handles all other calls.
class ScalarCalls {
 public:
  explicit ScalarCalls(ScalarReader& reader) : reader_(reader), context_(reader.context_), source_(reader.source_) {}

  /// Whether T.name is a function of two operands or an intrinsic.
  static bool is_function(std::string_view name);
  Result<Scalar> read(const ast::Expr& e);
  /// Returns what an operator of one tensor gives of a scalar: exp, floor, negative and the like; nothing if it is not
  /// defined for the scalar's dtype, or the scalar has none.
  static std::optional<Scalar> of_one(std::string_view op, const Scalar& x);
  /// Reads T.float32(x): a constant of that dtype, or a cast. T.float32("inf") and "nan" are as in Python.
  Result<Scalar> conversion(const ast::Expr& e, DType dtype);

 private:
  Result<Scalar> astype(const ast::Expr& e);
  Result<Scalar> function(const ast::Expr& e, const std::string& name, bool& known);
  Result<Scalar> unknown_function(const ast::Expr& e, const std::string& path, const std::string& name);
  Result<Scalar> is_finite(const ast::Expr& e);
  Result<Scalar> ceil_division(const ast::Expr& e);
  Result<Scalar> cast(const ast::Expr& e);
  Result<Scalar> fixed_point(const ast::Expr& e);
  Result<Scalar> fixed_point_of_axis(const ast::Expr& e);
  Result<Scalar> junction(const ast::Expr& e, bool all);
  Result<Scalar> binary_function(const ast::Expr& e, std::string_view name);
  Result<Scalar> reinterpret(const ast::Expr& e, std::string_view name);
  /// `operands`: index of the first operand in `e`'s items.
  Result<Scalar> intrinsic(const ast::Expr& e, std::string_view name, size_t operands);
  Status check_operand(const arith::Expr& operand, arith::Intrinsic which, std::string_view name, Place place);
  Result<Scalar> let_value(const ast::Expr& e, const ast::Expr& body);
  Result<Scalar> limit(const ast::Expr& e, std::string_view name);
  Status expect_arguments(const ast::Expr& e, size_t least, size_t most);

  ScalarReader& reader_;
  arith::Context& context_;
  SourceText& source_;
};

}  // namespace relaxc::frontend
