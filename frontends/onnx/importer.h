// importer.h: from a parsed graph to a function.
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

/// Nodes of one graph on the way from their inputs to `outputs`, each with its place in its graph.
struct NodeList {
  std::vector<std::pair<const onnx::NodeProto*, int>> nodes;
  std::vector<std::string> outputs;
};

/// Names of one graph (or model-local function), inside those of the graph around it.
struct Scope {
  Scope* parent = nullptr;
  NodeList* rest = nullptr;  ///< the nodes that are still to be converted, and what the graph gives
  std::map<std::string, NamedValue> slots;
  std::map<std::string, int64_t> opsets;  ///< by domain, "" for ai.onnx
  /// Attributes of the call, in a model-local function: what ref_attr_name refers to.
  std::map<std::string, const onnx::AttributeProto*> attributes;
  bool function = false;  ///< the body of a model-local function, which sees nothing around it
};

std::vector<std::string> names_of(const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& values);
/// What a node is called in messages; `number` is its place in its graph.
std::string label(const onnx::NodeProto& node, int number);
/// Its operator, with the domain before it if that is not ai.onnx.
std::string qualified(const onnx::NodeProto& node);

/// What a Squeeze without axes makes of an open dim, which is 1 or not only at run time.
enum class OpenSqueeze : uint8_t {
  kNotOne,   ///< it stays; a run in which it is 1 is refused, since the rank would be another
  kKept,     ///< it stays, even if it is 1: what the model declares has the rank that follows
  kRemoved,  ///< it goes; a run in which it is not 1 is refused
};

/// The state of one import. Graphs nest (If, Loop, functions); `scope` and `builder` are those of the innermost.
class GraphImporter {
 public:
  GraphImporter(const LoadedModel& model, const ImportOptions& options, relax::Module& module,
                const relax::OpTable& ops, Diagnostics& diag);

  /// The whole model as function "main".
  Status run();

  OpenSqueeze open_squeeze = OpenSqueeze::kNotOne;
  bool squeezed_open_dim = false;  ///< set where that made a difference
  /// Branches of Ifs, by the node as bytes and false for else: those that are not converted, so that a run that takes
  /// one is refused, and those that were found not to fit what depends on them although the other one does.
  std::set<std::pair<std::string, bool>> given_up, misfits;
  int64_t converted() const { return budget_.converted(); }  ///< nodes, those of functions as often as they are called
  /// Outputs and values of the graph whose declared rank is not what the nodes give.
  int wrong_ranks() const { return wrong_ranks_; }

  /// The values of `graph`'s outputs, with its nodes converted at `block` and its inputs bound to `arguments`. For the
  /// bodies of control flow; `block` null: at the insertion point.
  Result<std::vector<NamedValue>> inline_graph(const onnx::GraphProto& graph, std::vector<NamedValue> arguments,
                                               relax::Block* block);

  /// The nodes that depend on `node`, which is being converted, and those of their and its outputs that the graph
  /// gives: they are left to the caller. Fails, with a report, if that happens inside of itself too often.
  Result<NodeList> take_dependents(const onnx::NodeProto& node);
  /// The values of the list's outputs, with its nodes converted at `block` and the outputs of `node` being `made`.
  Result<std::vector<NamedValue>> inline_dependents(const onnx::NodeProto& node, std::vector<NamedValue> made,
                                                    const NodeList& dependents, relax::Block* block);

  /// Gives a name of the innermost scope its value; reports a second one.
  void define(const std::string& name, NamedValue slot, Location where);
  NamedValue* find(const std::string& name);
  /// The slot of `name` in the innermost scope: a copy of an outer one if need be, since what is emitted inside a
  /// region cannot be used outside of it.
  NamedValue& local(const std::string& name);
  /// The slot's tensor, made from its contents if need be.
  Result<Value*> materialize(const std::string& name);
  Result<Value*> materialize(const Known& known);

  /// While it lives, names are those of `scope`.
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

  /// While it lives, what is emitted goes to the end of `block`.
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
  /// The model-local function being inlined; null outside of functions.
  const onnx::FunctionProto* innermost() const { return calls_.empty() ? nullptr : calls_.back(); }
  /// The body of a model-local function in place of its call.
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
  std::set<const onnx::NodeProto*> visited_;       ///< asked for membership only

  int dependents_ = 0;  ///< how many times inline_dependents is in itself
  int wrong_ranks_ = 0;
};

}  // namespace relaxc::frontend
