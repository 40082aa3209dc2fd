// fold.h: one node of exact integer arithmetic on constants; internal to arith.
#pragma once

#include <optional>

#include "compiler/arith/expr.h"

namespace relaxc::arith {

/// `a kind b` for any binary kind (comparisons, and, or give 0 or 1); nothing on overflow or division by zero.
std::optional<int64_t> fold(ExprKind kind, int64_t a, int64_t b);

}  // namespace relaxc::arith
