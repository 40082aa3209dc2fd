// node.h: an operator of a subgraph as its converter sees it: tensors, options, and a way to emit operators of ours.
//
// Most operators are a formula over ours, which reads better without a check behind every step. So a node remembers its
// first failure: from then on every call gives null, which every call takes, and `set` passes the failure on. Before
// the dims of a value are looked at, a converter asks `ok`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/relax/builder.h"
#include "frontends/tflite/model.h"
#include "frontends/tflite/quantization.h"

namespace relaxc::tflite {

using relax::Attrs;
using relax::OpName;
using relax::Value;
using Ints = std::vector<int64_t>;

class Importer;

/// What `Node::scale` makes of a scaled value.
struct Stored {
  DType dtype = DType::i(32);
  int64_t zero_point = 0;
  std::optional<Limits> limits = {};  ///< default: those of the dtype
  bool reduced = false;               ///< how the scale is rounded (fixed_point.h): of int64, reduced; else double
};

class Node {
 public:
  Node(Importer& importer, const Subgraph& graph, const Operator& op, Location location);

  Importer& importer;
  const Subgraph& graph;
  const Operator& op;
  const Location location;
  Diagnostics& diag;

  // Tensors.
  size_t inputs() const { return op.inputs.size(); }
  size_t outputs() const { return op.outputs.size(); }
  bool has(size_t i) const { return i < inputs() && op.inputs[i] >= 0; }
  const Tensor& in(size_t i) const { return graph.tensors[static_cast<size_t>(op.inputs.at(i))]; }
  const Tensor& out(size_t i = 0) const { return graph.tensors[static_cast<size_t>(op.outputs.at(i))]; }
  TensorType type(size_t i = 0) const { return in(i).type; }
  /// int8, uint8 or int16 with a scale.
  bool quantized(size_t i = 0) const;
  /// Scale and zero point of a tensor with one of each; fails where it has another number of them.
  float scale_of(const Tensor& tensor);
  int64_t zero_of(const Tensor& tensor);
  DType dtype_of(const Tensor& tensor);

  Value* input(size_t i);
  Value* optional_input(size_t i) { return has(i) ? input(i) : nullptr; }
  std::vector<Value*> all_inputs();
  /// The data of an input that is known when compiling; null if it is none.
  relax::ConstantRef constant(size_t i);
  /// The integers of a constant input; nothing if it is none.
  std::optional<Ints> known_ints(size_t i);
  /// The same; fails, saying that `what` must be a constant, if it is none.
  Ints constant_ints(size_t i, std::string_view what);
  std::vector<double> constant_numbers(size_t i, std::string_view what);
  /// The dims of a value.
  Ints dims(const Value* x);
  int64_t rank(const Value* x) { return x == nullptr ? 0 : static_cast<int64_t>(x->shape().size()); }
  /// `axis` in -rank..rank-1 as 0..rank-1; fails if it is none of them.
  int64_t axis(int64_t axis, int64_t rank);
  Ints axes(Ints axes, int64_t rank);
  bool expect_rank(const Value* x, int64_t rank, std::string_view what);

  /// The options, with defaults where the file has none.
  template <typename T>
  const T& options() const {
    const T* found = op.raw->builtin_options_as<T>();
    return found == nullptr ? *reinterpret_cast<const T*>(empty_table()) : *found;
  }

  // Emitting. Null operands give null.
  relax::GraphBuilder& builder();
  Value* call(OpName name, std::vector<Value*> operands, Attrs attrs = {});
  std::vector<Value*> call_many(OpName name, std::vector<Value*> operands, Attrs attrs = {});
  Value* number(DType dtype, double value);
  Value* like(const Value* x, double value) { return x == nullptr ? nullptr : number(x->dtype(), value); }
  Value* list(DType dtype, const Ints& values, Ints shape = {});
  Value* reals(const std::vector<float>& values, Ints shape = {});
  Value* reals64(const std::vector<double>& values);
  Value* shape(const Ints& dims);
  Value* as(Value* x, DType dtype);
  Value* i32(Value* x) { return as(x, DType::i(32)); }
  Value* f32(Value* x) { return as(x, DType::f(32)); }
  Value* add(Value* a, Value* b) { return call("add", {a, b}); }
  Value* subtract(Value* a, Value* b) { return call("subtract", {a, b}); }
  Value* multiply(Value* a, Value* b) { return call("multiply", {a, b}); }
  Value* divide(Value* a, Value* b) { return call("divide", {a, b}); }
  Value* maximum(Value* a, Value* b) { return call("maximum", {a, b}); }
  Value* minimum(Value* a, Value* b) { return call("minimum", {a, b}); }
  Value* where(Value* condition, Value* a, Value* b) { return call("where", {condition, a, b}); }
  Value* add(Value* a, double b) { return b == 0 ? a : add(a, like(a, b)); }
  Value* multiply(Value* a, double b) { return b == 1 ? a : multiply(a, like(a, b)); }
  Value* clamp(Value* x, double low, double high) { return minimum(maximum(x, like(x, low)), like(x, high)); }
  Value* reshape(Value* x, const Ints& dims);
  Value* permute(Value* x, Ints axes) { return call("permute_dims", {x}, {{"axes", std::move(axes)}}); }
  Value* slice(Value* x, int64_t axis, int64_t begin, int64_t end, int64_t step = 1);
  Value* concat(std::vector<Value*> parts, int64_t axis);
  Value* reduce(OpName name, Value* x, Ints axes, bool keepdims = true);
  /// Elements of `value` (null: 0) around x: beginnings of all dims, then ends.
  Value* pad(Value* x, const Ints& pads, Value* value = nullptr);
  /// [N, spatial…, C] as [N, C, spatial…], and back.
  Value* channels_first(Value* x);
  Value* channels_last(Value* x);
  /// x * m in fixed point, with one multiplier or one for each place along the last axis.
  Value* scale(Value* x, Multiplier m, const Stored& stored = {}) { return scale(x, std::vector{m}, stored); }
  Value* scale(Value* x, const std::vector<Multiplier>& m, const Stored& stored = {});
  /// x of int32, with the zero point added, cut to the limits and converted.
  Value* store(Value* x, const Stored& stored);
  /// x cut to the range of `dtype` and converted.
  Value* saturate(Value* x, DType dtype);
  /// The element of a table for every stored value of x, in place of it; entry 0 is that of the lowest.
  Value* look_up(Value* x, const Ints& table, DType dtype);
  /// The value of a table of 513 numbers at x, int32 in -32768..32767, interpolated between two of them; int32.
  Value* interpolate(Value* x, const std::vector<int16_t>& table);

  // Activations that are part of another operator.
  using Activation = tflite_schema::ActivationFunctionType;
  /// The bounds that the activation and the dtype set for a quantized output.
  Limits activation_limits(Activation activation, const Tensor& tensor);
  /// The activation of a float or integer value.
  Value* activate(Value* x, Activation activation);

  // Results.
  bool ok() const { return !failed_; }
  void fail() { failed_ = true; }
  Status set(size_t i, Value* value);
  Status set(Value* value) { return set(0, value); }
  Status status() { return failed_ ? Status(diag.failed()) : Status(Done{}); }

  template <typename... Args>
  Failure error(Kind kind, fmt::format_string<Args...> text, Args&&... args) {
    failed_ = true;
    return diag.error(location, kind, text, std::forward<Args>(args)...);
  }
  /// The same where a value is wanted.
  template <typename... Args>
  std::nullptr_t refuse(fmt::format_string<Args...> text, Args&&... args) {
    error(Kind::unsupported, text, std::forward<Args>(args)...);
    return nullptr;
  }

 private:
  static const void* empty_table();
  bool failed_ = false;
};

}  // namespace relaxc::tflite
