// dot.h: sums of a few products, the step that dot-product instructions do at once: four of bytes (vpdpbusd, usdot),
// eight (smmla), two of bfloat16 (vdpbf16ps, bfdot).
//
// It is not a node of its own but a form of plain arithmetic: any pass or backend can compute it as it is, and a
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

/// a[0] * b.0 + a[1] * b.2 + a[2] * b.1 + a[3] * b.3 in int32, exact: two instructions that multiply pairs of 16-bit
/// numbers take a's as they lie, and every other byte of the word each.
struct PairDot {
  std::array<Expr, 4> a;  ///< int32, each a cast of an int16
  Expr b;                 ///< int32: four signed bytes, the first in the lowest bits
};

Expr pair_dot(const PairDot& dot);
/// The parts of what `pair_dot` gave; nothing for any other expression.
std::optional<PairDot> as_pair_dot(Expr e);

/// a[0] * b.0 + … + a[7] * b.7 in int32, exact.
struct Dot8 {
  std::array<Expr, 8> a;  ///< int32, each a cast of a byte, all signed or all not
  Expr b;                 ///< int64: eight bytes, the first in the lowest bits
  bool signed_b = true;
};

Expr dot8(const Dot8& dot);
/// The parts of what `dot8` gave; nothing for any other expression.
std::optional<Dot8> as_dot8(Expr e);

/// a[0] * b.0 + a[1] * b.1 in float32.
struct BFloatDot {
  std::array<Expr, 2> a;  ///< float32, each a cast of a bfloat16
  Expr b;                 ///< int32: two bfloat16, the first in the lower half
};

Expr bfloat_dot(const BFloatDot& dot);
/// The parts of what `bfloat_dot` gave; nothing for any other expression.
std::optional<BFloatDot> as_bfloat_dot(Expr e);

/// The word of several numbers that a form of this file multiplies by; null: it is none of them.
Expr word_of_dot(Expr e);

}  // namespace relaxc::arith
