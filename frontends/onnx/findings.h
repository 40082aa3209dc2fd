// findings.h: what an import says beside its errors, for --check: what each node reads, and remarks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/support/source.h"

namespace relaxc::frontend {

/// One input of a node.
struct OperandFinding {
  std::string name;                ///< empty: left out
  std::string form;                ///< "tensor", "a sequence", …; "none" if left out, "unknown" if its node failed
  std::string dtype;               ///< of a tensor
  std::vector<std::string> shape;  ///< of a tensor: numbers, and expressions of symbols
};

struct NodeFinding {
  std::string domain;
  std::vector<OperandFinding> inputs;
};

struct Findings {
  std::map<Location, NodeFinding> nodes;  ///< looked up, never walked: locations have no order
  std::vector<std::string> remarks;       ///< what a user may want to know of a model that compiles
};

}  // namespace relaxc::frontend
