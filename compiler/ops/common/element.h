// element.h: element arithmetic that several families share: the dtype in which a formula is computed, constants of any
// dtype, and divisions that cannot trap.
#pragma once

#include "compiler/ops/common/family.h"

namespace relaxc::ops {

/// Returns the dtype in which formulas over `dtype` are computed and sums accumulated: float32 for narrower floats (so
/// that there is one rounding, at the end), else `dtype`.
DType wide(DType dtype);
inline Expr widen(Expr e) {
  return cast(wide(e.dtype()), e);
}

/// Returns the constant `value` of the dtype of `e`.
Expr like(Expr e, double value);
/// Return the smallest / largest value of a dtype (floats: -inf / inf; bool: false / true).
Expr lowest(Context& context, DType dtype);
Expr highest(Context& context, DType dtype);

Expr call(Intrinsic intrinsic, Expr a);
Expr call(Intrinsic intrinsic, Expr a, Expr b);

/// Divisions of integers: by 0 they return 0, and the lowest value by -1 wraps, where the machine would trap. Floats
/// follow IEEE.
Expr safe_div(Expr a, Expr b);        ///< truncates
Expr safe_mod(Expr a, Expr b);        ///< remainder of safe_div, with the sign of a; floats: fmod
Expr safe_floor_div(Expr a, Expr b);  ///< rounds down
Expr safe_floor_mod(Expr a, Expr b);  ///< remainder of safe_floor_div, with the sign of b

/// Predicates for expect_dtype:
bool is_number(DType dtype);  ///< float or integer
bool is_float(DType dtype);
/// Fails unless `fits` is true of the operand's dtype; `expected` names what would be: "a float".
relaxc::Status expect_dtype(InferContext& c, size_t operand, bool (*fits)(DType), const char* expected);

}  // namespace relaxc::ops
