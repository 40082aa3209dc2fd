// element.h: element arithmetic that several families share: in which dtype a formula is computed, operands that are
// constants of any dtype, and divisions that cannot trap.
#pragma once

#include "compiler/ops/common/family.h"

namespace relaxc::ops {

/// The dtype in which a formula over `dtype` is computed and sums are accumulated: float32 for the narrow floats (one
/// rounding at the end instead of one a step), else `dtype`.
DType wide(DType dtype);
inline Expr widen(Expr e) {
  return cast(wide(e.dtype()), e);
}

/// The constant `value` of `e`'s dtype.
Expr like(Expr e, double value);
/// The smallest / largest value of a dtype (floats: -inf / inf; bool: false / true).
Expr lowest(Context& context, DType dtype);
Expr highest(Context& context, DType dtype);

Expr call(Intrinsic intrinsic, Expr a);
Expr call(Intrinsic intrinsic, Expr a, Expr b);

/// Quotients of integers: by 0 they give 0, and the lowest value by -1 wraps, where the machine would trap. Floats are
/// IEEE.
Expr safe_div(Expr a, Expr b);        ///< truncates
Expr safe_mod(Expr a, Expr b);        ///< of safe_div: the sign of a; floats: fmod
Expr safe_floor_div(Expr a, Expr b);  ///< rounds down
Expr safe_floor_mod(Expr a, Expr b);  ///< the sign of b

/// For error messages: "float32 or bool".
bool is_number(DType dtype);  ///< float or integer
bool is_float(DType dtype);
/// Fails unless `fits(dtype)`; `expected` says what would: "a float".
relaxc::Status expect_dtype(InferContext& c, size_t operand, bool (*fits)(DType), const char* expected);

}  // namespace relaxc::ops
