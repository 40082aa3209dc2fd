// high_product.h: the upper half of a product of two int32, which machines have instructions for (smmul, mulh, vrmulh).
//
// Like the forms of dot.h it is plain arithmetic, by numbers of 64 bits that a machine with the instruction never has.
#pragma once

#include <optional>

#include "compiler/arith/expr.h"

namespace relaxc::arith {

/// int32(int64(a) * int64(b) >> 32) of int32 a and b; `rounded`: with 2^31 added to the product before.
struct HighProduct {
  Expr a, b;
  bool rounded = false;
};

/// Nothing for any other expression.
std::optional<HighProduct> as_high_product(Expr e);

}  // namespace relaxc::arith
