// attribute_limits.h: the valid values of attributes, beyond their types.
#pragma once

#include <string>

#include "frontends/onnx/node.h"
#include "frontends/onnx/signature.h"

namespace relaxc::frontend {

/// Returns what is wrong with the value of an attribute of the node's operator ("must be 1 or more, found 0"); empty if
/// nothing. Checks only what the attribute alone decides: converters check axes, which depend on a rank.
std::string limit_fault(const Node& node, const onnx::AttributeProto& given, const AttributeFormal& formal);

}  // namespace relaxc::frontend
