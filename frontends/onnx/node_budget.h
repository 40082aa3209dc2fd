// node_budget.h: limits the number of nodes that an import converts.
//
// A file of a few kilobytes can have functions that call each other twice, thirty levels deep. So the nodes of a call
// are counted before any of them is converted.
#pragma once

#include <map>
#include <string>

#include "frontends/onnx/converter.h"
#include "frontends/onnx/import.h"

namespace relaxc::frontend {

/// Deepest nesting of function calls in a model.
inline constexpr size_t kDeepestCalls = 64;

/// Returns the domain as scopes have it: "" for ai.onnx.
std::string domain_of(const std::string& domain);
/// Returns the rule of the options for the node's operator; null if there is none.
const CustomOp* find_custom(const ImportOptions& options, const onnx::NodeProto& node);
/// Returns the model-local function that the node calls; null if there is none.
const onnx::FunctionProto* find_function(const onnx::ModelProto& model, const onnx::NodeProto& node);

class NodeBudget {
 public:
  NodeBudget(const onnx::ModelProto& model, const ImportOptions& options, Diagnostics& diag)
      : model_(model), options_(options), diag(diag) {}

  void count_node() { ++converted_; }
  /// Number of converted nodes, counting those of functions for each call.
  int64_t converted() const { return converted_; }
  bool is_exceeded() const { return exceeded_; }

  /// Returns the number of nodes of a call of the function, with all calls expanded; saturates.
  int64_t size_of(const onnx::FunctionProto& function);
  /// Returns whether `nodes` more are within the budget; reports the first time that they are not.
  bool allows(int64_t nodes, const std::string& what, Location where);

 private:
  /// Includes the nodes of its subgraphs and of functions called in them.
  int64_t size_of(const onnx::NodeProto& node);

  const onnx::ModelProto& model_;
  const ImportOptions& options_;
  Diagnostics& diag;
  std::map<const onnx::FunctionProto*, int64_t> sizes_;  ///< never iterated
  size_t counting_ = 0;                                  ///< nesting depth of functions
  int64_t converted_ = 0;
  bool exceeded_ = false;
};

}  // namespace relaxc::frontend
