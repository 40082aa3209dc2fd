// pivot.cpp: see pivot.h.
#include "compiler/ops/common/pivot.h"

#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"

namespace relaxc::ops {

Result<const TensorInfo*> square_matrices(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  if (x->ndim < 2 || !x->dtype->is_float())
    return c.error(Kind::shape_mismatch, "'{}' of {}; it needs square matrices of floats", c.op.def->name,
                   to_string(c.op.operand(0)->info));
  RELAXC_DO(require_equal(c, x->shape->end()[-2], x->shape->end()[-1], "rows and columns"));
  return x;
}

Stmt PivotRows::find(Var k) {
  Expr first = b_.index(0);
  Stmt search = b_.loop("i", m_->shape[0] - k - 1, [&](Var i) {
    Expr row = k + 1 + i, best = cast(DType::index(), b_.load(pivot_, {first}));
    Expr larger = arith::lt(call(Intrinsic::k_abs, at(best, k)), call(Intrinsic::k_abs, at(row, k)));
    return b_.branch(larger, b_.store(pivot_, {first}, cast(DType::i(64), row)));
  });
  return b_.seq({b_.store(pivot_, {first}, cast(DType::i(64), k)), search});
}

Stmt PivotRows::with_found(const std::function<Stmt(Var row)>& use) {
  return b_.let("pivot_row", cast(DType::index(), b_.load(pivot_, {b_.index(0)})), use);
}

Stmt PivotRows::exchange(Expr a, Expr b) {
  return b_.loop("j", m_->shape[1], [&](Var j) {
    return b_.let("kept", at(a, j), [&](Var kept) {
      return b_.seq({b_.store(m_, {a, j}, at(b, j)), b_.store(m_, {b, j}, kept)});
    });
  });
}

}  // namespace relaxc::ops
