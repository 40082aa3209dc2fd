// fold.h: exact integer arithmetic on two constants; internal to arith.
#pragma once

#include <optional>

#include "compiler/arith/expr.h"

namespace relaxc::arith {

/// Returns `a kind b` for any binary kind (comparisons, and, or give 0 or 1); nullopt on overflow or division by zero.
std::optional<int64_t> fold(ExprKind kind, int64_t a, int64_t b);

}  // namespace relaxc::arith
