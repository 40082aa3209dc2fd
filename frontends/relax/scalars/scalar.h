// scalar.h: scalar expressions of the text: dims in Relax, subscripts and element arithmetic in TIR.
//
// A number has no dtype until it meets something that has one: `x + 1` is one of x's dtype, `(n + 1,)` one of a dim.
// T.int64(3) and T.int32(3) are what printers write for dims, so they too become dims where they meet one. Everything
// else is typed and must fit; nothing is converted silently but integers read from memory that are used as subscripts.
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
    kInteger,     ///< a bare integer: takes any numeric dtype
    kReal,        ///< a bare float: takes any float dtype
    kDimLiteral,  ///< T.int64(3): an int64, or a dim where one is wanted
  };
  arith::Expr expr;  ///< bare integers are of dtype index, bare floats of float64
  Literal literal = kTyped;
};

/// Reads scalar expressions: operators here, functions by ScalarCalls. Subclasses say what names and subscripts are.
class ScalarReader {
 public:
  ScalarReader(arith::Context& context, SourceText& source) : context_(context), source_(source) {}
  virtual ~ScalarReader() = default;

  Result<Scalar> read(const ast::Expr& e);
  /// An index expression: a dim, extent or subscript.
  Result<arith::Expr> index(const ast::Expr& e);
  /// A bool expression.
  Result<arith::Expr> condition(const ast::Expr& e);
  /// An expression of the given dtype.
  Result<arith::Expr> value(const ast::Expr& e, DType dtype);

  /// Gives a literal its dtype; an integer used as a dim is cast. Reports anything else.
  Result<arith::Expr> adapt(const Scalar& scalar, DType dtype, Place place);
  /// The arithmetic of an operator of Python, with both sides brought to one dtype.
  Result<Scalar> binary(std::string_view op, const Scalar& a, const Scalar& b, Place place);

 protected:
  /// What a name stands for; reports an unbound one.
  virtual Result<Scalar> name(const ast::Expr& e) = 0;
  /// `B.elem_offset`: what a dotted name stands for.
  virtual Result<Scalar> attribute(const ast::Expr& e);
  /// A buffer's element, or whatever else may be subscripted.
  virtual Result<Scalar> subscript(const ast::Expr& e);
  /// A call that is not a scalar function.
  virtual Result<Scalar> other_call(const ast::Expr& e, const std::string& callee);
  /// A dtype that is in a conversion.
  virtual Result<DType> element_dtype(const ast::Expr& e);
  /// T.Let gives parts of an expression names, which are known in `read` alone.
  virtual Result<Scalar> with_parts(const std::function<Result<Scalar>()>& read) = 0;
  virtual void name_part(const std::string& name, const Scalar& part, Place place) = 0;
  /// Reports what is wrong with parts of `e` that are reached for certain: T.Let may give them names before it is
  /// known.
  virtual Status check_reached(arith::Expr, Place) { return Done{}; }
  /// Called with every integer that is where an index belongs.
  virtual void use_as_index(arith::Expr) {}

  arith::Context& context_;
  SourceText& source_;
  size_t choices_ = 0;  ///< conditions under which what is being read is reached

 public:
  /// What is read while it lives is reached under a condition.
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

  /// Whether what is being read is reached under no condition.
  bool is_reached_for_certain() const { return choices_ == 0; }
  /// Both sides in one dtype.
  Result<std::pair<Scalar, Scalar>> unify(const Scalar& a, const Scalar& b, Place place);
  Result<Scalar> unary(const ast::Expr& e);
  Result<Scalar> logical(const ast::Expr& e);
  Result<Scalar> select(const ast::Expr& condition, const ast::Expr& then_value, const ast::Expr& else_value,
                        Place place);
  Result<Scalar> bits(std::string_view op, arith::Expr x, arith::Expr y, Place place);
  Result<Scalar> power(arith::Expr x, arith::Expr y, Place place);
};

}  // namespace relaxc::frontend
