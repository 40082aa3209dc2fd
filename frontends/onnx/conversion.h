// conversion.h: element types converted as ONNX has it, for Cast, CastLike and QuantizeLinear.
#pragma once

#include "frontends/onnx/node.h"

namespace relaxc::frontend {

/// What Cast's attributes say of formats that do not reach as far, or have no mantissa.
struct ConversionRules {
  bool saturate = true;      ///< float8: the largest finite value for what is beyond it; else infinity or NaN
  std::string round = "up";  ///< float8e8m0: "up", "down" or "nearest"
};

/// The attributes `saturate` and `round_mode` of the node.
Result<ConversionRules> conversion_rules(Node& node);
/// `x` in another element type. Floats become integers by dropping the fraction.
Result<Value*> converted(Node& node, Value* x, DType dtype, const ConversionRules& rules);

}  // namespace relaxc::frontend
