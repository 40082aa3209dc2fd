// node.h: a node of the graph as its converter sees it: inputs, attributes, and a way to emit operators.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/relax/builder.h"
#include "frontends/onnx/known.h"
#include "frontends/onnx/onnx.pb.h"

namespace relaxc::frontend {

using arith::Expr;
using relax::Attrs;
using relax::AttrValue;
using relax::OpName;
using relax::TensorInfo;
using relax::Value;

struct Composite;

/// What a name of the model stands for.
struct NamedValue {
  Value* value = nullptr;      ///< null while only the contents were asked for
  std::optional<Known> known;  ///< contents, where they are followed
  bool failed = false;         ///< its node could not be converted; what depends on it is passed over
  bool absent = false;         ///< an input of a model-local function that its call leaves out
  std::shared_ptr<const Composite> composite = nullptr;  ///< a sequence or an optional, instead of the others
};

class GraphImporter;

class Node {
 public:
  Node(GraphImporter& importer, const onnx::NodeProto& proto, int64_t opset, Location location);

  const onnx::NodeProto& proto;
  const int64_t opset;  ///< of the node's domain
  const Location location;
  Diagnostics& diag;

  // Inputs. An optional input may be absent (an empty name, past the end, or left out in the call of a function).
  size_t inputs() const { return static_cast<size_t>(proto.input_size()); }
  bool has(size_t index) const;
  /// Input `index` as a tensor value; fails if it is absent.
  Result<Value*> input(size_t index);
  /// The same, or null if it is absent.
  Result<Value*> optional_input(size_t index);
  Result<std::vector<Value*>> all_inputs();
  /// Shape and dtype of an input, known contents included.
  Result<const TensorInfo*> info(size_t index);
  /// The contents of an input, if they are followed; null if not, or if it is absent.
  const Known* known(size_t index);
  /// The contents as numbers; fails, saying that `what` must be a constant, if they are anything else.
  Result<std::vector<int64_t>> constant_ints(size_t index, std::string_view what);
  /// The contents of an integer input as expressions; if they are not known, symbols are bound to the tensor's elements
  /// when the program runs. `count`: how many there must be, where the operator decides that and not the operand.
  Result<std::vector<Expr>> ints(size_t index, std::optional<int64_t> count = {});
  /// The data of an input that is a constant; null if it is none.
  relax::ConstantRef constant(size_t index);
  /// The single element of a constant input as a number.
  std::optional<double> constant_scalar(size_t index);

  // Attributes, with ONNX's defaults. One of the wrong type is reported when the node is checked.
  const onnx::AttributeProto* attribute(std::string_view name) const;
  bool has_attr(std::string_view name) const { return attribute(name) != nullptr; }
  int64_t int_attr(std::string_view name, int64_t fallback) const;
  double float_attr(std::string_view name, double fallback) const;
  std::string string_attr(std::string_view name, std::string_view fallback) const;
  std::vector<int64_t> ints_attr(std::string_view name, std::vector<int64_t> fallback = {}) const;
  std::vector<double> floats_attr(std::string_view name) const;
  std::vector<std::string> strings_attr(std::string_view name) const;
  Result<relax::ConstantRef> tensor_attr(const onnx::TensorProto& tensor);

  // Emitting.
  relax::GraphBuilder& builder();
  arith::Context& context();
  const arith::Facts& facts();
  /// An operator of ours; `unsupported` if this build has no such operator.
  Result<Value*> call(OpName op, std::vector<Value*> operands, Attrs attrs = {});
  Result<std::vector<Value*>> call_many(OpName op, std::vector<Value*> operands, Attrs attrs = {});
  Value* shape(std::vector<Expr> dims) { return builder().shape(std::move(dims)); }
  Value* scalar(DType dtype, double value) { return builder().scalar(dtype, value); }
  Expr index(int64_t value) { return context().index(value); }
  /// Each of them as an index expression.
  std::vector<Expr> indices(const std::vector<int64_t>& values);
  Expr simplify(Expr e);
  /// What the facts say of a condition on sizes, and of a size.
  arith::Truth decide(Expr condition);
  arith::Range bounds(Expr e);

  // Outputs.
  size_t outputs() const { return static_cast<size_t>(proto.output_size()); }
  bool wants(size_t index) const { return index < outputs() && !proto.output(static_cast<int>(index)).empty(); }
  Status set(size_t index, Value* value);
  Status set(size_t index, Result<Value*> value);
  bool set_known(size_t index, Known known);
  /// Makes output `index` what input `from` is.
  Status forward(size_t index, size_t from);

  // Other operators' converters.
  /// Converts the node as operator `op` of ai.onnx, as `opset` defines it.
  Status convert_as(std::string_view op, int64_t opset);
  /// The first output of operator `op` of ai.onnx, as `opset` defines it, on `inputs` (null: absent) with the
  /// attributes of this node.
  Result<Value*> apply(std::string_view op, int64_t opset, const std::vector<Value*>& inputs);

  // Subgraphs.
  GraphImporter& importer() { return importer_; }

  template <typename... Args>
  Failure error(Kind kind, fmt::format_string<Args...> text, Args&&... args) {
    return diag.error(location, kind, text, std::forward<Args>(args)...);
  }

 private:
  GraphImporter& importer_;
};

/// `axis` in -rank..rank-1 as 0..rank-1, or an error at the node.
Result<int64_t> normal_axis(Node& node, int64_t axis, int64_t rank);
/// The same for a list without duplicates.
Result<std::vector<int64_t>> normal_axes(Node& node, std::vector<int64_t> axes, int64_t rank);
/// `value` seen under another shape of as many elements.
Result<Value*> reshape(Node& node, Value* value, std::vector<Expr> dims);
/// The numbers in a small tensor of any dtype as symbols that are bound when the program runs; of floats the whole
/// part.
Result<std::vector<Expr>> values_of(Node& node, Value* value);
/// `value` with the dims that `what` promises: an error if they differ, checked at run time where that is not known, by
/// an op that `builder` places (null: the node's own).
Result<Value*> with_shape(Node& node, Value* value, std::vector<Expr> dims, std::string_view what,
                          relax::GraphBuilder* builder = nullptr);
/// The one number that an input of any dtype and rank holds.
Result<Expr> number_in(Node& node, size_t input);
/// `value` itself if it has the dtype.
Result<Value*> astype(Node& node, Value* value, DType dtype);

}  // namespace relaxc::frontend
