// importer.h: converts a parsed graph to a function.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/relax/builder_scope.h"
#include "frontends/onnx/import.h"
#include "frontends/onnx/load.h"
#include "frontends/onnx/node_budget.h"
#include "frontends/onnx/node_conversion.h"
#include "frontends/onnx/size_reasoning.h"
#include "frontends/onnx/small_constants.h"

namespace relaxc::frontend {

class Parameters;

/// Nodes of one graph that compute `outputs`, each with its number in its graph.
struct NodeList {
  std::vector<std::pair<const onnx::NodeProto*, int>> nodes;
  std::vector<std::string> outputs;
};

/// The names of one graph (or model-local function), inside of the enclosing graph's.
struct Scope {
  Scope* parent = nullptr;
  NodeList* rest = nullptr;  ///< the nodes that are not converted yet, and the graph's outputs
  std::map<std::string, NamedValue> slots;
  std::map<std::string, int64_t> opsets;  ///< by domain, "" for ai.onnx
  /// In a model-local function: the attributes of the call, to which ref_attr_name refers.
  std::map<std::string, const onnx::AttributeProto*> attributes;
  bool function = false;  ///< the body of a model-local function, which does not see enclosing names
};

std::vector<std::string> names_of(const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& values);
/// Returns a node's name for messages; `number` is its position in its graph.
std::string label(const onnx::NodeProto& node, int number);
/// Returns its operator, preceded by the domain if that is not ai.onnx.
std::string qualified(const onnx::NodeProto& node);

/// How a Squeeze without axes handles an open dim, of which only the run knows whether it is 1.
enum class OpenSqueeze : uint8_t {
  kNotOne,   ///< it stays; a run in which it is 1 fails, since the rank would differ
  kKept,     ///< it stays, even if it is 1, since the model declares the rank that follows from that
  kRemoved,  ///< it is removed; a run in which it is not 1 fails
};

/// The state of one import. Graphs nest (If, Loop, functions); `scope` and `builder` are the innermost graph's.
class GraphImporter {
 public:
  GraphImporter(const LoadedModel& model, const ImportOptions& options, relax::Module& module,
                const relax::OpTable& ops, Diagnostics& diag);

  /// Imports the whole model as function "main".
  Status run();

  OpenSqueeze open_squeeze = OpenSqueeze::kNotOne;
  bool squeezed_open_dim = false;  ///< whether `open_squeeze` made a difference
  /// Branches of Ifs, identified by the node's bytes and false for else: those that are not converted, so that a run
  /// that takes one fails, and those that turned out not to fit their dependents although the other branch does.
  std::set<std::pair<std::string, bool>> given_up, misfits;
  int64_t converted() const { return budget_.converted(); }  ///< nodes, counting those of functions for each call
  /// Number of outputs and values of the graph whose declared rank differs from that of the nodes.
  int wrong_ranks() const { return wrong_ranks_; }

  /// Returns the values of `graph`'s outputs, with its nodes converted at the end of `block` and its inputs bound to
  /// `arguments`. For bodies of control flow; `block` null: at the insertion point.
  Result<std::vector<NamedValue>> inline_graph(const onnx::GraphProto& graph, std::vector<NamedValue> arguments,
                                               relax::Block* block);

  /// Takes the nodes that depend on `node`, which is being converted, from the rest, with the graph's outputs among
  /// theirs and its own; the caller must convert them. Fails, with a report, if this is nested too deeply.
  Result<NodeList> take_dependents(const onnx::NodeProto& node);
  /// Converts the list's nodes at the end of `block` with `made` as outputs of `node`; returns the list's outputs.
  Result<std::vector<NamedValue>> inline_dependents(const onnx::NodeProto& node, std::vector<NamedValue> made,
                                                    const NodeList& dependents, relax::Block* block);

  /// Gives a name of the innermost scope its value; reports a second definition.
  void define(const std::string& name, NamedValue slot, Location where);
  NamedValue* find(const std::string& name);
  /// Returns the slot of `name` in the innermost scope; copies one of an outer scope, since ops that are emitted inside
  /// of a region cannot be used outside of it.
  NamedValue& local(const std::string& name);
  /// Returns the slot's tensor; makes it from the known contents if there is none.
  Result<Value*> materialize(const std::string& name);
  Result<Value*> materialize(const Known& known);

  /// While it lives, `scope` is the innermost scope.
  class Within {
   public:
    Within(GraphImporter& importer, Scope& scope)
        : importer_(importer), outer_(std::exchange(importer.scope_, &scope)) {}
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;
    ~Within() { importer_.scope_ = outer_; }

   private:
    GraphImporter& importer_;
    Scope* outer_;
  };

  /// While it lives, ops are appended to `block`.
  struct Inside : relax::BuilderScope {
    Inside(GraphImporter& importer, relax::Block* block)
        : BuilderScope(importer.builder_, importer.module_, importer.ops_, block, importer.diag) {}
  };

  relax::GraphBuilder& builder() { return *builder_; }
  SizeReasoning& sizes() { return *sizes_; }
  NodeConversion& conversion() { return conversion_; }
  relax::Module& module() { return module_; }
  relax::Function& function() { return *function_; }
  Diagnostics& diagnostics() { return diag; }
  Scope& scope() { return *scope_; }
  ModelFiles& files() { return *model_.files; }
  const relax::OpTable& ops() const { return ops_; }
  SmallConstants& small_constants() { return small_constants_; }
  /// Returns the model-local function that is being inlined; null outside of functions.
  const onnx::FunctionProto* innermost() const { return calls_.empty() ? nullptr : calls_.back(); }
  /// Inlines the body of a model-local function.
  Status call_function(const onnx::FunctionProto& function, Node& node);

 private:
  Status opsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports, Scope& scope);
  void initializers(const onnx::GraphProto& graph);
  void nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, std::vector<std::string> outputs);
  void report_cycle(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, const std::vector<int>& cyclic);
  void convert_all(NodeList list);
  std::vector<NamedValue> given(const std::vector<std::string>& outputs, bool as_tensors);
  void convert(const onnx::NodeProto& node, int number);
  bool operands_ready(const onnx::NodeProto& node, Location where);
  void fail_outputs(const onnx::NodeProto& node);

  const LoadedModel& model_;
  const ImportOptions& options_;
  relax::Module& module_;
  const relax::OpTable& ops_;
  Diagnostics& diag;
  NodeConversion conversion_;
  SmallConstants small_constants_;
  relax::Function* function_ = nullptr;
  std::unique_ptr<SizeReasoning> sizes_;  ///< of function_
  relax::GraphBuilder* builder_ = nullptr;
  Scope* scope_ = nullptr;
  Location file_ = nullptr;
  NodeBudget budget_;
  std::vector<const onnx::FunctionProto*> calls_;  ///< the model-local functions being inlined
  std::set<const onnx::NodeProto*> visited_;       ///< never iterated

  int dependents_ = 0;  ///< nesting depth of inline_dependents
  int wrong_ranks_ = 0;
};

}  // namespace relaxc::frontend
