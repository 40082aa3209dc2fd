// node_inputs.h: the inputs of one node, as tensors and as known contents.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "frontends/onnx/emission.h"
#include "frontends/onnx/known.h"
#include "frontends/onnx/onnx.pb.h"

namespace relaxc::frontend {

struct Composite;

/// The value of a name in the model.
struct NamedValue {
  Value* value = nullptr;      ///< null as long as only the contents were needed
  std::optional<Known> known;  ///< contents, if they are followed
  bool failed = false;         ///< its node could not be converted; its users are skipped
  bool absent = false;         ///< an input of a model-local function that the call leaves out
  std::shared_ptr<const Composite> composite = nullptr;  ///< set for other kinds of values, instead of the fields above
};

class NodeInputs {
 public:
  /// `emission` emits the operators that reading an input takes.
  NodeInputs(Emission& emission, const onnx::NodeProto& proto) : emission_(emission), proto_(proto) {}

  // An optional input may be absent: an empty name, past the end, or left out in the call of a function.
  size_t inputs() const { return static_cast<size_t>(proto_.input_size()); }
  bool has(size_t index) const;
  /// Returns input `index` as a tensor value; fails if it is absent.
  Result<Value*> input(size_t index);
  /// The same; null if it is absent.
  Result<Value*> optional_input(size_t index);
  Result<std::vector<Value*>> all_inputs();
  /// Returns shape and dtype of an input, which may be known contents.
  Result<const TensorInfo*> info(size_t index);
  /// Returns the contents of an input if they are followed; null if not, or if it is absent.
  const Known* known(size_t index);
  /// Returns the contents as numbers; fails, saying that `what` must be a constant, if they are not.
  Result<std::vector<int64_t>> constant_ints(size_t index, std::string_view what);
  /// Returns the contents of an integer input as expressions; if they are not known, symbols are bound to the tensor's
  /// elements at run time. `count`: their required number, if the operator determines it and not the operand.
  Result<std::vector<Expr>> ints(size_t index, std::optional<int64_t> count = {});
  /// Returns the data of a constant input; null if it is not constant.
  relax::ConstantRef constant(size_t index);
  /// Returns the only element of a constant input as a number.
  std::optional<double> constant_scalar(size_t index);

 private:
  const std::string& name(size_t index) const { return proto_.input(static_cast<int>(index)); }
  NamedValue* slot(size_t index) const;
  Result<Value*> read(Value* value, const std::string& name, std::optional<int64_t> count, std::vector<int64_t>& shape);

  Emission& emission_;
  const onnx::NodeProto& proto_;
};

}  // namespace relaxc::frontend
