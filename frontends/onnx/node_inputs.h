// node_inputs.h: the inputs of one node, as tensors and by what is known of their contents.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "frontends/onnx/emission.h"
#include "frontends/onnx/known.h"
#include "frontends/onnx/onnx.pb.h"

namespace relaxc::frontend {

struct Composite;

/// What a name of the model stands for.
struct NamedValue {
  Value* value = nullptr;      ///< null while only the contents were asked for
  std::optional<Known> known;  ///< contents, where they are followed
  bool failed = false;         ///< its node could not be converted; what depends on it is passed over
  bool absent = false;         ///< an input of a model-local function that its call leaves out
  std::shared_ptr<const Composite> composite = nullptr;  ///< a sequence or an optional, instead of the others
};

class NodeInputs {
 public:
  /// What reading an input takes is emitted by `emission`.
  NodeInputs(Emission& emission, const onnx::NodeProto& proto) : emission_(emission), proto_(proto) {}

  // Inputs. An optional input may be absent (an empty name, past the end, or left out in the call of a function).
  size_t inputs() const { return static_cast<size_t>(proto_.input_size()); }
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

 private:
  const std::string& name(size_t index) const { return proto_.input(static_cast<int>(index)); }
  NamedValue* slot(size_t index) const;
  Result<Value*> read(Value* value, const std::string& name, std::optional<int64_t> count, std::vector<int64_t>& shape);

  Emission& emission_;
  const onnx::NodeProto& proto_;
};

}  // namespace relaxc::frontend
