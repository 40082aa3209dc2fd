// cast_hint.h: how a program says that a value is of another dtype, for messages about dtypes.
#pragma once

#include "compiler/ops/common/family.h"

namespace relaxc::ops {

/// "cast one with astype"; of a model's node, whose author knows no operator of that name: "put a Cast node before one
/// of them".
std::string cast_hint(const InferContext& c);

}  // namespace relaxc::ops
