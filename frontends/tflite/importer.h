// importer.h: the walk over subgraphs.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "compiler/relax/builder_scope.h"
#include "frontends/tflite/import.h"
#include "frontends/tflite/operators.h"

namespace relaxc::tflite {

/// What a tensor of a subgraph stands for while it is converted.
struct TensorValue {
  Value* value = nullptr;
  bool failed = false;  ///< its operator could not be converted; what depends on it is passed over
  std::string handle;   ///< of a resource: the variable's name
};

/// A variable that outlives a run: a tensor that is marked as one, or what a handle names. It is a state of the
/// function: a parameter, and a result behind the model's own.
struct Variable {
  std::string name;
  Value* parameter = nullptr;
  Value* value = nullptr;  ///< what it is now
  int64_t zero = 0;        ///< what is stored at first, for which the state holds 0
};

struct Scope {
  const Subgraph* graph = nullptr;
  std::vector<TensorValue> slots;
};

class Importer {
 public:
  Importer(const Model& model, const ImportOptions& options, relax::Module& module, const relax::OpTable& ops,
           Diagnostics& diag);

  /// The first subgraph as a function, and what it calls inside of it.
  Status run();

  relax::GraphBuilder& builder() { return *builder_; }
  relax::Module& module() { return module_; }
  relax::Function& function() { return *function_; }
  Diagnostics& diagnostics() { return diag; }
  Scope& scope() { return *scope_; }
  const Model& model() const { return model_; }
  std::vector<Variable>& variables() { return variables_; }

  /// The value of a tensor of the innermost subgraph; null, with a report, if there is none.
  Value* value_of(int32_t tensor);
  /// The data of a constant tensor.
  relax::ConstantRef constant_of(const Tensor& tensor);
  /// The variable of that name; of a new one, the state begins as zeros of the type and shape of `like`.
  Result<size_t> variable(const std::string& name, const Tensor& like);
  /// The variables' values, and back.
  std::vector<Value*> variable_values() const;
  void set_variable_values(const std::vector<Value*>& values);
  /// The outputs of a subgraph, with its operators converted at the insertion point.
  Result<std::vector<Value*>> inline_subgraph(int64_t index, const std::vector<TensorValue>& arguments);

  /// While it lives, what is emitted goes to the end of `block`.
  struct Inside : relax::BuilderScope {
    Inside(Importer& importer, relax::Block* block)
        : BuilderScope(importer.builder_, importer.module_, importer.ops_, block, importer.diag) {}
  };

 private:
  friend class Node;
  Result<Value*> parameter(const Tensor& tensor);
  std::string variable_name(const Tensor& tensor) const;
  void convert(const Operator& op, size_t number);
  Status convert_checked(const Row& row, Node& node);
  Status check(const Row& row, Node& node);
  bool operands_ready(const Operator& op);
  void find_operands(const Operator& op, Location where);
  const frontend::CustomOp* find_custom(const Operator& op) const;
  Status check_outputs(Node& node);
  Status results(const Subgraph& graph);
  void describe_quantization(const Subgraph& graph);

  const Model& model_;
  const ImportOptions& options_;
  relax::Module& module_;
  const relax::OpTable& ops_;
  Diagnostics& diag;
  OperatorTable table_;
  relax::Function* function_ = nullptr;
  relax::GraphBuilder* builder_ = nullptr;
  Scope* scope_ = nullptr;
  Location file_ = nullptr;
  std::vector<Variable> variables_;
  int64_t nodes_ = 0;
  int depth_ = 0;  ///< subgraphs inside of each other
};

/// What the metadata of the model says that a caller must know: how inputs are normalized.
std::vector<std::string> metadata_remarks(const Model& model);

/// Makes the operator a call of the C function that `custom` declares.
Status convert_custom_op(const frontend::CustomOp& custom, Node& node);

}  // namespace relaxc::tflite
