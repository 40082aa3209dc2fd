// custom_op.h: operators of a model that the linking program implements.
//
// The user declares the results of an operator; a node then becomes a call of a C function (docs/custom-operators.md
// describes the rules, docs/abi.md the calls).
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/relax/tensor_rule.h"
#include "compiler/support/dtype.h"
#include "compiler/support/result.h"

namespace relaxc::frontend {

using relax::RuleDim;
using relax::RuleTensor;

/// An attribute of the node that the function receives; without a default the node must have it.
struct RuleAttribute {
  std::string name;
  std::variant<std::monostate, int64_t, double> fallback;
};

struct CustomOp {
  std::string domain, name;  ///< as the model names it; "" for ai.onnx
  std::string function;      ///< the C function
  std::vector<RuleTensor> operands, results;
  std::vector<RuleAttribute> attributes;
};

/// Parses a rule: `key` is "domain::Name"; `rule` is "operands -> results; attributes"; an empty `function` is derived
/// from domain and name. Fails (usage) with the position in the rule that is invalid.
Result<CustomOp> parse_custom_op(std::string_view key, std::string_view rule, std::string function, Diagnostics& diag);

class Node;
/// Converts the node to a call of the function. Fails on operands, attributes or results that do not match the rule.
Status convert_custom_op(const CustomOp& op, Node& node);

}  // namespace relaxc::frontend
