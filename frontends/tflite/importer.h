// importer.h: converts subgraphs, operator by operator.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "compiler/relax/builder_scope.h"
#include "frontends/tflite/import.h"
#include "frontends/tflite/operator_budget.h"
#include "frontends/tflite/operators.h"

namespace relaxc::tflite {

/// The value of a subgraph's tensor during conversion.
struct TensorValue {
  Value* value = nullptr;
  bool failed = false;  ///< its operator could not be converted; operators that read it are skipped
  std::string handle;   ///< for a resource: name of the variable that it refers to
};

/// A variable that keeps its value between runs: a tensor marked as variable, or the target of a resource handle. It is
/// a state of the function: a parameter, and a result after the model's own.
struct Variable {
  std::string name;
  Value* parameter = nullptr;
  Value* value = nullptr;  ///< current value at the insertion point
  int64_t zero = 0;        ///< stored number at the start, represented as 0 in the state
};

struct Scope {
  const Subgraph* graph = nullptr;
  std::vector<TensorValue> slots;
};

class Importer {
 public:
  Importer(const Model& model, const ImportOptions& options, relax::Module& module, const relax::OpTable& ops,
           Diagnostics& diag);

  /// Converts the first subgraph to a function, with the subgraphs that it calls inlined.
  Status run();

  relax::GraphBuilder& builder() { return *builder_; }
  relax::Module& module() { return module_; }
  relax::Function& function() { return *function_; }
  Diagnostics& diagnostics() { return diag; }
  Scope& scope() { return *scope_; }
  const Model& model() const { return model_; }
  std::vector<Variable>& variables() { return variables_; }

  /// Returns the value of a tensor of the innermost subgraph, or null; reports an error if nothing defines it.
  Value* value_of(int32_t tensor);
  /// Returns the data of a constant tensor; int4 is unpacked to int8.
  relax::ConstantRef constant_of(const Tensor& tensor);
  /// Returns the index of the variable `name`; a new one starts as zeros with the type and shape of `like`.
  Result<size_t> variable(const std::string& name, const Tensor& like);
  /// Returns and sets the current values of all variables, so that a branch can be converted and undone.
  std::vector<Value*> variable_values() const;
  void set_variable_values(const std::vector<Value*>& values);
  /// Converts a subgraph's operators at the insertion point and returns the values of its outputs.
  Result<std::vector<Value*>> inline_subgraph(int64_t index, const std::vector<TensorValue>& arguments);

  /// While an object of this class lives, operators are emitted at the end of `block`.
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
  OperatorBudget budget_;
  int depth_ = 0;  ///< current nesting of subgraphs
};

/// Returns what the metadata says that a caller must do: how to normalize inputs.
std::vector<std::string> metadata_remarks(const Model& model);

/// Converts the operator to a call of the C function that `custom` declares.
Status convert_custom_op(const frontend::CustomOp& custom, Node& node);

}  // namespace relaxc::tflite
