// high_product.h: the upper half of a product of two int32, for which there are instructions (smmul, mulh, vrmulh).
//
// Like the forms of dot.h it is plain arithmetic; with the instruction, its 64-bit intermediate values are not needed.
#pragma once

#include <optional>

#include "compiler/arith/expr.h"

namespace relaxc::arith {

/// int32(int64(a) * int64(b) >> 32) of int32 a and b; if `rounded`, 2^31 is added to the product before the shift.
struct HighProduct {
  Expr a, b;
  bool rounded = false;
};

/// Returns the operands of such an expression; nullopt for any other.
std::optional<HighProduct> as_high_product(Expr e);

}  // namespace relaxc::arith
