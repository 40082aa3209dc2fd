// findings.h: an import's findings besides errors, for --check: the operands of each node, and remarks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/source.h"

namespace relaxc::frontend {

/// One input of a node.
struct OperandFinding {
  std::string name;                ///< empty if left out
  std::string form;                ///< "tensor", "a sequence", …; "none" if left out, "unknown" if its node failed
  std::string dtype;               ///< of a tensor
  std::vector<std::string> shape;  ///< of a tensor: numbers and expressions of symbols
};

struct NodeFinding {
  std::string domain;
  std::vector<OperandFinding> inputs;
};

/// The attributes that a node leaves to the defaults of its operator, in the order of the operator's description.
struct ImplicitAttributes {
  Location node = nullptr;
  std::vector<std::string> names;
};

/// The versions that a model states.
struct ModelVersions {
  int64_t ir = 0;
  std::map<std::string, int64_t> opsets;  ///< by domain
};

struct Findings {
  std::map<Location, NodeFinding> nodes;                ///< looked up, never walked: locations have no order
  std::vector<ImplicitAttributes> implicit_attributes;  ///< of nodes that leave any, in the order of their conversion
  std::optional<ModelVersions> versions;                ///< of an ONNX model
  std::vector<std::string> remarks;                     ///< what a user may want to know of a model that compiles
};

}  // namespace relaxc::frontend
