// conversion_builder.h: writing a converter as nested calls.
//
// Most operators are a formula over others, and a formula reads better without a check after every step. A
// ConversionBuilder remembers the first failure; from then on every call gives null, which every call takes. Before
// dims are looked at, a converter asks `ok`.
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
  /// Null also where the input is absent.
  Value* optional(size_t index) { return take(node.optional_input(index)); }
  /// The value, or null and the chain has failed.
  Value* take(Result<Value*> value);
  bool ok() const { return !failed_; }
  Failure failed() const { return node.diag.failed(); }

  Value* call(OpName op, std::vector<Value*> operands, Attrs attrs = {});
  /// The first output of operator `op` of ai.onnx, as `opset` defines it, with the attributes of the node.
  Value* onnx(std::string_view op, int64_t opset, const std::vector<Value*>& inputs);

  Value* add(Value* a, Value* b) { return call("add", {a, b}); }
  Value* subtract(Value* a, Value* b) { return call("subtract", {a, b}); }
  Value* multiply(Value* a, Value* b) { return call("multiply", {a, b}); }
  Value* divide(Value* a, Value* b) { return call("divide", {a, b}); }
  Value* matmul(Value* a, Value* b) { return call("matmul", {a, b}); }
  /// With a number of the operand's dtype; nothing is done where it changes nothing.
  Value* add(Value* a, double b) { return b == 0 ? a : add(a, like(a, b)); }
  Value* multiply(Value* a, double b) { return b == 1 ? a : multiply(a, like(a, b)); }
  /// a + b, or a alone if b is null.
  Value* plus(Value* a, Value* b) { return b == nullptr ? a : add(a, b); }
  Value* as(Value* x, DType dtype);  ///< `x` itself if it has that dtype
  Value* like(Value* x, double value);
  Value* number(DType dtype, double value) { return node.scalar(dtype, value); }
  Value* reshape(Value* x, std::vector<Expr> dims);
  Value* permute(Value* x, Ints axes);
  /// x[…, begin : end, …] along `axis`, which is not negative.
  Value* slice(Value* x, int64_t axis, Expr begin, Expr end);
  Value* reduce(OpName op, Value* x, Ints axes, bool keepdims = true);
  Value* concat(std::vector<Value*> parts, int64_t axis);
  Value* where(Value* condition, Value* x, Value* y) { return call("where", {condition, x, y}); }
  /// begin, begin + 1, … of int64, `count` of them.
  Value* arange(Expr begin, Expr count);
  /// x with the last axis of a channels-last layout moved to the second place, and back.
  Value* channels_first(Value* x);
  Value* channels_last(Value* x);

  /// Sets an output, or passes on the failure.
  Status set(size_t index, Value* value);

 private:
  bool failed_ = false;
};

inline int64_t rank_of(const Value* x) {
  return static_cast<int64_t>(x->shape().size());
}
/// The dim as a number, or an error that says that `what` must be one.
Result<int64_t> constant_dim(Node& node, Expr dim, std::string_view what);
/// Fails unless `x` has `rank` dims; `what` names it.
Status expect_rank(Node& node, const Value* x, int64_t rank, std::string_view what);

}  // namespace relaxc::frontend
