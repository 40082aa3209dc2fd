// dot.h: sums of four products of bytes, the step that dot-product instructions (vpdpbusd, usdot) do at once.
//
// It is no node of its own but a form of plain integer arithmetic: whoever meets it can compute it as it stands, and a
// backend that has the instruction finds it again. Since expressions are hash-consed, "is this it?" is to build it anew
// from its parts and compare.
#pragma once

#include <array>
#include <optional>

#include "compiler/arith/expr.h"

namespace relaxc::arith {

/// a[0] * b.0 + … + a[3] * b.3 in int32, exact. The last products may be missing.
struct Dot4 {
  std::array<Expr, 4> a;  ///< int32, each a cast of a uint8; null: no such product, which only the last two may be
  Expr b;                 ///< int32: four signed bytes, the first in the lowest bits
};

Expr dot4(const Dot4& dot);
/// The parts of what `dot4` gave; nothing for any other expression.
std::optional<Dot4> as_dot4(Expr e);

}  // namespace relaxc::arith
