// node_budget.h: how many nodes an import converts, and how many it may.
//
// A file of a few kilobytes can have functions that call each other twice, thirty levels deep. So the nodes that a call
// comes to are counted before any of them is converted.
#pragma once

#include <map>
#include <string>

#include "frontends/onnx/converter.h"
#include "frontends/onnx/import.h"

namespace relaxc::frontend {

/// Functions inside of each other that a model may call.
inline constexpr size_t kDeepestCalls = 64;

/// The domain as scopes know it: "" for ai.onnx.
std::string domain_of(const std::string& domain);
/// The rule of the options for the node's operator; null: there is none.
const CustomOp* find_custom(const ImportOptions& options, const onnx::NodeProto& node);
/// The model-local function that the node calls; null: none.
const onnx::FunctionProto* find_function(const onnx::ModelProto& model, const onnx::NodeProto& node);

class NodeBudget {
 public:
  NodeBudget(const onnx::ModelProto& model, const ImportOptions& options, Diagnostics& diag)
      : model_(model), options_(options), diag(diag) {}

  void count_node() { ++converted_; }
  /// Nodes, those of functions as often as they are called.
  int64_t converted() const { return converted_; }
  bool is_exceeded() const { return exceeded_; }

  /// The nodes that a call of the function comes to, saturated.
  int64_t size_of(const onnx::FunctionProto& function);
  /// Whether `nodes` more are within the budget; reports the first time that they are not.
  bool allows(int64_t nodes, const std::string& what, Location where);

 private:
  /// With those of its subgraphs and of the functions that are called among them.
  int64_t size_of(const onnx::NodeProto& node);

  const onnx::ModelProto& model_;
  const ImportOptions& options_;
  Diagnostics& diag;
  std::map<const onnx::FunctionProto*, int64_t> sizes_;  ///< looked up only
  size_t counting_ = 0;                                  ///< functions inside of each other
  int64_t converted_ = 0;
  bool exceeded_ = false;
};

}  // namespace relaxc::frontend
