// activation.h: the activations that fused operators name in an attribute.
#pragma once

#include "frontends/onnx/conversion_builder.h"

namespace relaxc::frontend {

/// Activation `name` (ONNX's operator name; "" is none) of x. Its parameters in the order of ONNX's attributes (alpha,
/// beta, gamma; Clip: minimum, maximum); those that are not given have ONNX's defaults. Defined in
/// ops/contrib_fused.cpp.
Value* activated(ConversionBuilder& c, Value* x, const std::string& name,
                 const std::vector<std::optional<double>>& parameters);

}  // namespace relaxc::frontend
