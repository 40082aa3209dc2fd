// custom_op.h: operators that the model uses and the program that links the object provides.
//
// The user declares what results an operator has; a node then becomes a call of a C function (docs/custom-operators.md
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

/// An attribute of the node that the function receives; without a default it must be there.
struct RuleAttribute {
  std::string name;
  std::variant<std::monostate, int64_t, double> fallback;
};

struct CustomOp {
  std::string domain, name;  ///< as the model names it; "" is ai.onnx
  std::string function;      ///< the C function
  std::vector<RuleTensor> operands, results;
  std::vector<RuleAttribute> attributes;
};

/// `key` is "domain::Name"; `rule` is "operands -> results; attributes"; `function` empty: made of domain and name.
/// Fails (usage) with the place in the rule that cannot be read.
Result<CustomOp> parse_custom_op(std::string_view key, std::string_view rule, std::string function, Diagnostics& diag);

class Node;
/// Makes the node a call of the function. Fails on operands, attributes or results that the rule does not foresee.
Status convert_custom_op(const CustomOp& op, Node& node);

}  // namespace relaxc::frontend
