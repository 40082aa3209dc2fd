// pivot.cpp: see pivot.h.
#include "compiler/ops/common/pivot.h"

#include "compiler/ops/common/element.h"

namespace relaxc::ops {

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
