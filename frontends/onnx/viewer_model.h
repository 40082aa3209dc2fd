// viewer_model.h: graphs as ONNX models for programs that show them, such as Netron.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/support/dtype.h"

namespace relaxc::frontend {

/// A tensor that nodes exchange. Dims are numbers or expressions of symbols ("n * 4"); absent if the rank is unknown.
struct ViewerValue {
  std::string name;
  std::optional<DType> dtype;  ///< absent if unknown or no tensor: no type is written
  std::optional<std::vector<std::string>> dims;
};

struct ViewerGraph;

using ViewerAttribute = std::variant<int64_t, std::string, std::vector<float>, std::vector<std::string>, ViewerGraph>;

/// The domains of nodes: relaxc's operators and control flow, and kernels. A kernel may be named as an operator is.
enum class ViewerDomain { kOperators, kKernels };

struct ViewerNode {
  std::string name, op;
  ViewerDomain domain = ViewerDomain::kOperators;
  std::vector<std::string> inputs, outputs;  ///< names of values
  std::vector<std::pair<std::string, ViewerAttribute>> attributes;
};

/// A graph, a branch or body within one, or a function. Nodes are in an order in which producers precede users.
struct ViewerGraph {
  std::string name;
  std::vector<ViewerValue> inputs, outputs;
  std::vector<ViewerValue> values;  ///< of the values in between, those whose types are known
  std::vector<ViewerNode> nodes;
};

struct ViewerModel {
  std::string producer;
  ViewerGraph graph;
  std::vector<ViewerGraph> functions;                         ///< of the nodes of kKernels with their names as `op`
  std::vector<std::pair<std::string, std::string>> metadata;  ///< names and values
};

/// Returns the bytes of an ONNX model (IR version 10) whose nodes are in the domains "relaxc" and "relaxc.kernels". It
/// is for looking at: it has no weights, and no runtime has these operators. Texts must be UTF-8.
std::string viewer_model_bytes(const ViewerModel& model);

}  // namespace relaxc::frontend
