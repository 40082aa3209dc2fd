// scalar.h: reads scalar expressions: dims in Relax, subscripts and element arithmetic in TIR.
//
// A number gets its dtype from the other operand: `x + 1` has x's dtype, `(n + 1,)` a dim's. T.int64(3) and T.int32(3)
// are what printers write for dims, so they become dims as well beside one. Everything else is typed and must match;
// integers that are read from memory and used as subscripts are converted silently, and so is what a store writes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/arith/expr.h"
#include "compiler/support/result.h"
#include "frontends/relax/text/ast.h"

namespace relaxc::frontend {

struct Scalar {
  enum Literal : uint8_t {
    kTyped,       ///< has its dtype
    kInteger,     ///< a bare integer: any numeric dtype
    kReal,        ///< a bare float: any float dtype
    kDimLiteral,  ///< T.int64(3): an int64, or a dim where one is needed
  };
  arith::Expr expr;  ///< bare integers have dtype index, bare floats float64
  Literal literal = kTyped;
};

/// Reads scalar expressions: operators here, functions by ScalarCalls. Subclasses resolve names and subscripts.
class ScalarReader {
 public:
  ScalarReader(arith::Context& context, SourceText& source) : context_(context), source_(source) {}
  virtual ~ScalarReader() = default;

  Result<Scalar> read(const ast::Expr& e);
  /// Returns an index expression: a dim, extent or subscript.
  Result<arith::Expr> index(const ast::Expr& e);
  /// Returns a bool expression.
  Result<arith::Expr> condition(const ast::Expr& e);
  /// Returns an expression of the given dtype.
  Result<arith::Expr> value(const ast::Expr& e, DType dtype);

  /// Gives a literal its dtype; casts an integer that is used as a dim. Reports other mismatches.
  Result<arith::Expr> adapt(const Scalar& scalar, DType dtype, Place place);
  /// Converts what is stored to the dtype of its buffer: numbers of any dtype are cast, as TVM's parser does.
  Result<arith::Expr> stored(const Scalar& scalar, DType dtype, Place place);
  /// Returns the result of a Python operator, or of "max", "min" or "mod" (the remainder of truncating division), with
  /// both operands converted to one dtype.
  Result<Scalar> binary(std::string_view op, const Scalar& a, const Scalar& b, Place place);

 protected:
  /// Returns the value of a name; reports an unknown one.
  virtual Result<Scalar> name(const ast::Expr& e) = 0;
  /// Returns the value of a dotted name, such as `B.elem_offset`.
  virtual Result<Scalar> attribute(const ast::Expr& e);
  /// Returns a buffer's element, or another value with a subscript.
  virtual Result<Scalar> subscript(const ast::Expr& e);
  /// Reads a call that is not a scalar function.
  virtual Result<Scalar> other_call(const ast::Expr& e, const std::string& callee);
  /// Whether a / b of integers is the quotient rounded toward 0, as prim funcs of TVM before 0.10 have it. Later ones,
  /// and Relax, have no such operator.
  virtual bool divides_integers() const { return false; }
  /// Returns the dtype in a conversion.
  virtual Result<DType> element_dtype(const ast::Expr& e);
  /// Calls `read`, which reads a T.Let: the names that it gives to parts of an expression are valid only in there.
  virtual Result<Scalar> with_parts(const std::function<Result<Scalar>()>& read) = 0;
  virtual void name_part(const std::string& name, const Scalar& part, Place place) = 0;
  /// Reports errors in parts of `e` that are evaluated unconditionally; separate, since T.Let names parts before it is
  /// known whether they are.
  virtual Status check_reached(arith::Expr, Place) { return Done{}; }
  /// Whether an index is an int64 in the text. Dims of Relax are.
  virtual bool is_long(arith::Expr) const { return true; }
  /// Called with every integer that is used as an index.
  virtual void use_as_index(arith::Expr) {}

  arith::Context& context_;
  SourceText& source_;
  size_t choices_ = 0;  ///< conditions under which the current expression is evaluated

 public:
  /// While it lives, expressions are evaluated conditionally.
  class Choice {
   public:
    explicit Choice(ScalarReader& reader) : choices_(reader.choices_) { ++choices_; }
    Choice(const Choice&) = delete;
    ~Choice() { --choices_; }

   private:
    size_t& choices_;
  };

 private:
  friend class ScalarCalls;  ///< reads the functions

  /// Whether the current expression is evaluated unconditionally.
  bool is_reached_for_certain() const { return choices_ == 0; }
  /// Returns both operands in one dtype.
  Result<std::pair<Scalar, Scalar>> unify(const Scalar& a, const Scalar& b, Place place);
  Result<Scalar> unary(const ast::Expr& e);
  Result<Scalar> logical(const ast::Expr& e);
  Result<Scalar> select(const ast::Expr& condition, const ast::Expr& then_value, const ast::Expr& else_value,
                        Place place);
  Result<Scalar> bits(std::string_view op, arith::Expr x, arith::Expr y, Place place);
  Result<Scalar> power(arith::Expr x, arith::Expr y, Place place);
};

}  // namespace relaxc::frontend
