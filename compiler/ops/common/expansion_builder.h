// expansion_builder.h: builds an expansion from nested calls.
//
// An expansion is a formula over operators, and a formula reads better without a check after each step. An
// ExpansionBuilder records the first failure; after that every call returns null, and calls accept null operands.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/ops/common/shape.h"
#include "compiler/relax/builder.h"

namespace relaxc::ops {

using Values = Result<std::vector<Value*>>;

class ExpansionBuilder {
 public:
  explicit ExpansionBuilder(relax::GraphBuilder& b) : b_(b) {}

  relax::GraphBuilder& builder() const { return b_; }
  /// Adds an operator with one result and returns that; null if it or an operand failed.
  Value* call(relax::OpName op, std::vector<Value*> operands, relax::Attrs attrs = {});
  Value* as(Value* x, DType dtype);  ///< casts `x`; `x` itself if it has that dtype
  Value* reshape(Value* x, Dims dims);
  Value* permute(Value* x, std::vector<int64_t> axes);
  /// Returns x[.., begin : begin + extent, ..] along `axis`.
  Value* part(Value* x, int64_t axis, Expr begin, Expr extent);
  Value* number(DType dtype, double value) { return b_.scalar(dtype, value); }
  Value* add(Value* a, Value* b) { return call("add", {a, b}); }
  Value* subtract(Value* a, Value* b) { return call("subtract", {a, b}); }
  Value* multiply(Value* a, Value* b) { return call("multiply", {a, b}); }

  bool failed() const { return failed_; }
  void fail() { failed_ = true; }  ///< records a failure that was reported elsewhere
  /// Returns the results of the expansion, or the failure.
  Values done(std::vector<Value*> results);

 private:
  relax::GraphBuilder& b_;
  bool failed_ = false;
};

}  // namespace relaxc::ops
