// index_widths.cpp: see index_widths.h.
#include "compiler/tir/index_widths.h"

#include "compiler/arith/angle.h"
#include "compiler/arith/visit.h"
#include "compiler/tir/visit.h"

namespace relaxc::tir {

bool may_have_narrow_indices(const PrimFunc& function) {
  bool may = !function.is_host() && !function.c_function && function.checks.overflow_code == 0;
  for_each_stmt(function.body, [&](Stmt s) {
    may = may && s.as<Guard>() == nullptr && s.as<Invoke>() == nullptr;
    for (Expr e : expressions(s))
      arith::for_each_node(
          e, [&](Expr node) { may = may && (node->kind != arith::ExprKind::kExtern || arith::is_angle_call(node)); });
  });
  return may;
}

}  // namespace relaxc::tir
