// cast_hint.h: hints, in messages about dtypes, how to convert a value.
#pragma once

#include "compiler/ops/common/family.h"

namespace relaxc::ops {

/// Returns "cast one with astype"; for a node of a model, whose author does not know that operator: "put a Cast node
/// before one of them".
std::string cast_hint(const InferContext& c);

}  // namespace relaxc::ops
