// conversion_builder.h: builds a converter's result from nested calls.
//
// Most operators are a formula over others, and a formula reads better without a check after each step. A
// ConversionBuilder records the first failure; after that every call returns null, and calls accept null operands. A
// converter must check `ok` before it reads dims.
#pragma once

#include <string_view>
#include <vector>

#include "frontends/onnx/node.h"

namespace relaxc::frontend {

using Ints = std::vector<int64_t>;

class ConversionBuilder {
 public:
  explicit ConversionBuilder(Node& node) : node(node) {}

  Node& node;

  Value* input(size_t index) { return take(node.input(index)); }
  /// Returns null also if the input is absent.
  Value* optional(size_t index) { return take(node.optional_input(index)); }
  /// Returns the value; if it failed, returns null and records that.
  Value* take(Result<Value*> value);
  bool ok() const { return !failed_; }
  Failure failed() const { return node.diag.failed(); }

  Value* call(OpName op, std::vector<Value*> operands, Attrs attrs = {});
  /// Returns the first output of operator `op` of ai.onnx, as `opset` defines it, with the attributes of the node.
  Value* onnx(std::string_view op, int64_t opset, const std::vector<Value*>& inputs);

  Value* add(Value* a, Value* b) { return call("add", {a, b}); }
  Value* subtract(Value* a, Value* b) { return call("subtract", {a, b}); }
  Value* multiply(Value* a, Value* b) { return call("multiply", {a, b}); }
  Value* divide(Value* a, Value* b) { return call("divide", {a, b}); }
  Value* matmul(Value* a, Value* b) { return call("matmul", {a, b}); }
  /// With a number of the operand's dtype; emits nothing if the result would be equal.
  Value* add(Value* a, double b) { return b == 0 ? a : add(a, like(a, b)); }
  Value* multiply(Value* a, double b) { return b == 1 ? a : multiply(a, like(a, b)); }
  /// Returns a + b, or a if b is null.
  Value* plus(Value* a, Value* b) { return b == nullptr ? a : add(a, b); }
  Value* as(Value* x, DType dtype);  ///< casts `x`; `x` itself if it has that dtype
  Value* like(Value* x, double value);
  Value* number(DType dtype, double value) { return node.scalar(dtype, value); }
  Value* reshape(Value* x, std::vector<Expr> dims);
  Value* permute(Value* x, Ints axes);
  /// Returns x[…, begin : end, …] along `axis`, which must not be negative.
  Value* slice(Value* x, int64_t axis, Expr begin, Expr end);
  Value* reduce(OpName op, Value* x, Ints axes, bool keepdims = true);
  Value* concat(std::vector<Value*> parts, int64_t axis);
  Value* where(Value* condition, Value* x, Value* y) { return call("where", {condition, x, y}); }
  /// Returns begin, begin + 1, … as int64, `count` of them.
  Value* arange(Expr begin, Expr count);
  /// Moves the last axis of a channels-last layout to the second position, and back.
  Value* channels_first(Value* x);
  Value* channels_last(Value* x);

  /// Sets an output, or returns the failure.
  Status set(size_t index, Value* value);

 private:
  bool failed_ = false;
};

inline int64_t rank_of(const Value* x) {
  return static_cast<int64_t>(x->shape().size());
}
/// Returns the dim as a number; fails, saying that `what` must be one, if it is not constant.
Result<int64_t> constant_dim(Node& node, Expr dim, std::string_view what);
/// Fails unless `x` has `rank` dims; `what` names it.
Status expect_rank(Node& node, const Value* x, int64_t rank, std::string_view what);

}  // namespace relaxc::frontend
