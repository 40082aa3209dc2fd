// conversion.h: conversions between element types with ONNX's rules, for Cast, CastLike and QuantizeLinear.
#pragma once

#include "frontends/onnx/node.h"

namespace relaxc::frontend {

/// Cast's attributes for formats with a small range or without a mantissa.
struct ConversionRules {
  bool saturate = true;      ///< float8: whether larger values become the largest finite one; else infinity or NaN
  std::string round = "up";  ///< float8e8m0: "up", "down" or "nearest"
};

/// Returns the attributes `saturate` and `round_mode` of the node.
Result<ConversionRules> conversion_rules(Node& node);
/// Converts `x` to another element type. Floats are truncated to integers.
Result<Value*> converted(Node& node, Value* x, DType dtype, const ConversionRules& rules);

}  // namespace relaxc::frontend
