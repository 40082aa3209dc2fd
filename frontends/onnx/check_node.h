// check_node.h: validates a node before it is converted.
#pragma once

#include "frontends/onnx/converter.h"
#include "frontends/onnx/node.h"
#include "frontends/onnx/signature.h"

namespace relaxc::frontend {

/// Checks the node against the operator's signature: number of inputs and outputs, which of them are left out, and
/// attributes: known, given once, of the declared type, present if required, with a valid value (attribute_limits.h).
/// `function` is the model-local function that contains the node and to whose attributes it may refer; null outside of
/// functions. `called`: whether the attributes of the function's call are known; if not, references to them count as
/// given. Reports every fault.
Status check_node(Node& node, const Signature& signature, const onnx::FunctionProto* function, bool called = true);

/// The same for the call of a model-local function, which may leave out any input, output and attribute.
Status check_call(Node& node, const onnx::FunctionProto& callee, const onnx::FunctionProto* function);

/// Checks a node whose operator has no signature: no attribute is given twice or refers to a missing one.
Status check_attributes(Node& node, const onnx::FunctionProto* function);

/// Returns the operator of the domain that is nearest to an unknown one; of all domains if that has none.
std::optional<std::string> nearest_operator(const ConverterTable& table, std::string_view domain, std::string_view op);

}  // namespace relaxc::frontend
