// activation.h: the activations that attributes of fused operators name.
#pragma once

#include "frontends/onnx/conversion_builder.h"

namespace relaxc::frontend {

/// Applies activation `name` (ONNX's operator name; "" is none) to x. `parameters` are in the order of ONNX's
/// attributes (alpha, beta, gamma; Clip: minimum, maximum); missing ones have ONNX's defaults. Defined in
/// ops/contrib_fused.cpp.
Value* activated(ConversionBuilder& c, Value* x, const std::string& name,
                 const std::vector<std::optional<double>>& parameters);

}  // namespace relaxc::frontend
