// dot.h: the sums of products that dot product instructions compute: four products of bytes (vpdpbusd, usdot), eight
// (smmla), two of bfloat16 (vdpbf16ps, bfdot).
//
// These are not nodes of their own but forms of plain arithmetic: every pass or backend can compute them as they are,
// and a backend with the instruction recognizes them. Since expressions are hash-consed, recognizing one means to build
// it from its parts and to compare pointers.
#pragma once

#include <array>
#include <optional>

#include "compiler/arith/expr.h"

namespace relaxc::arith {

/// a[0] * b.0 + … + a[3] * b.3 in int32, exact. The last products may be missing.
struct Dot4 {
  std::array<Expr, 4> a;  ///< int32, each a cast of a uint8; the last two may be null: no product
  Expr b;                 ///< int32: four signed bytes, the first in the lowest bits
};

Expr dot4(const Dot4& dot);
/// Returns the parts of an expression that `dot4` makes; nullopt for any other expression.
std::optional<Dot4> as_dot4(Expr e);

/// a[0] * b.0 + a[1] * b.2 + a[2] * b.1 + a[3] * b.3 in int32, exact: two instructions that multiply pairs of 16-bit
/// numbers take the a's in memory order, and every other byte of the word each.
struct PairDot {
  std::array<Expr, 4> a;  ///< int32, each a cast of an int16
  Expr b;                 ///< int32: four signed bytes, the first in the lowest bits
};

Expr pair_dot(const PairDot& dot);
/// Returns the parts of an expression that `pair_dot` makes; nullopt for any other expression.
std::optional<PairDot> as_pair_dot(Expr e);

/// a[0] * b.0 + … + a[7] * b.7 in int32, exact.
struct Dot8 {
  std::array<Expr, 8> a;  ///< int32, each a cast of a byte, all signed or all unsigned
  Expr b;                 ///< int64: eight bytes, the first in the lowest bits
  bool signed_b = true;
};

Expr dot8(const Dot8& dot);
/// Returns the parts of an expression that `dot8` makes; nullopt for any other expression.
std::optional<Dot8> as_dot8(Expr e);

/// a[0] * b.0 + a[1] * b.1 in float32.
struct BFloatDot {
  std::array<Expr, 2> a;  ///< float32, each a cast of a bfloat16
  Expr b;                 ///< int32: two bfloat16, the first in the lower half
};

Expr bfloat_dot(const BFloatDot& dot);
/// Returns the parts of an expression that `bfloat_dot` makes; nullopt for any other expression.
std::optional<BFloatDot> as_bfloat_dot(Expr e);

/// Returns the operand `b` of an expression that this file's functions make; null for any other expression.
Expr word_of_dot(Expr e);

}  // namespace relaxc::arith
