// attribute_limits.h: the values that attributes can have, beyond their types.
#pragma once

#include <string>

#include "frontends/onnx/node.h"
#include "frontends/onnx/signature.h"

namespace relaxc::frontend {

/// What is wrong with the value of an attribute of the node's operator ("must be 1 or more, found 0"); empty if nothing
/// is. Looks at what the attribute decides alone: axes, which depend on a rank, are up to the converter.
std::string limit_fault(const Node& node, const onnx::AttributeProto& given, const AttributeFormal& formal);

}  // namespace relaxc::frontend
