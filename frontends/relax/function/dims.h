// dims.h: reads the scalar expressions of a Relax function: dims, numbers, bools.
//
// Has the DimPattern (dim_pattern.h) that says whether a name without a value is an error, or becomes a
// symbol.
#pragma once

#include "frontends/relax/function/dim_pattern.h"
#include "frontends/relax/function/term.h"

namespace relaxc::frontend {

struct FunctionParts;

class Dims : public ScalarReader {
 public:
  explicit Dims(FunctionParts& parts);

  DimPattern& pattern() { return pattern_; }
  const DimPattern& pattern() const { return pattern_; }
  /// Reads a shape: `(n, 4)`, `"(n, 4)"`, R.shape([…]), or a shape value.
  Result<std::vector<arith::Expr>> list(const ast::Expr& e);
  Result<std::vector<arith::Expr>> list_of(const Term& term, Place place);
  /// Reads one dim, in quotes or not.
  Result<arith::Expr> dim(const ast::Expr& e);
  /// Reads the value in a scalar type; a name by itself may be new.
  Result<arith::Expr> scalar(const ast::Expr& e, DType dtype);

 private:
  Result<Scalar> name(const ast::Expr& e) override;
  Result<Scalar> new_name(const ast::Expr& e);
  Result<Scalar> scalar_of(const Term& term, const ast::Expr& e);
  Result<Scalar> subscript(const ast::Expr& e) override;
  Result<Scalar> attribute(const ast::Expr& e) override;
  Result<Scalar> other_call(const ast::Expr& e, const std::string& callee) override;
  Result<Scalar> with_parts(const std::function<Result<Scalar>()>& read) override;
  void name_part(const std::string& name, const Scalar& part, Place place) override;
  const ast::Expr* quoted(const ast::Expr& e);
  Result<std::vector<arith::Expr>> quoted_list(const ast::Expr& e);

  FunctionParts& parts_;
  DimPattern pattern_;
};

}  // namespace relaxc::frontend
