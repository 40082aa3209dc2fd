// check_node.h: whether a node is one of its operator, before it is converted.
#pragma once

#include "frontends/onnx/converter.h"
#include "frontends/onnx/node.h"
#include "frontends/onnx/signature.h"

namespace relaxc::frontend {

/// Holds the node against the operator's signature: how many inputs and outputs it has, which of them are left out, and
/// its attributes: known, given once, of the declared type, there if required, and of a value that the operator can
/// have (attribute_limits.h). `function`: the model-local function that the node is in, whose attributes it may
/// refer to; null outside of functions. `called`: the attributes of the function's call are known; if not, what refers
/// to them counts as given. Fails with a report for each fault.
Status check_node(Node& node, const Signature& signature, const onnx::FunctionProto* function, bool called = true);

/// The same for the call of a model-local function, which may leave out any input, output and attribute.
Status check_call(Node& node, const onnx::FunctionProto& callee, const onnx::FunctionProto* function);

/// What can be said of a node whose operator has no description: no attribute is given twice or refers to nothing.
Status check_attributes(Node& node, const onnx::FunctionProto* function);

/// The operator of the domain that an unknown one is most likely to mean; of all domains if that has none.
std::optional<std::string> nearest_operator(const ConverterTable& table, std::string_view domain, std::string_view op);

}  // namespace relaxc::frontend
