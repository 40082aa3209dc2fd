// lower_scalar_math.cpp: replaces exp, tanh and similar functions by arithmetic in every prim func.
//
// All backends then print the same additions and multiplications, so they give the same bits, and no object needs a
// libm (compiler/arith/math.h says how each function is computed). Backends print what is
// left of expressions, so values that very many arms of selects share get locals here (share_across_arms.h).
#include "compiler/arith/math.h"
#include "compiler/tir/visit.h"
#include "compiler/transform/lower/share_across_arms.h"
#include "compiler/transform/passes.h"

namespace relaxc {

Result<Changed> lower_scalar_math(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  tir::Rewriter rewriter;
  rewriter.on_expr = [&](arith::Expr e) { return arith::expand_all_math(e, context.target.has_fma); };
  for (tir::PrimFunc* function : module.prim_funcs()) {
    tir::Stmt body = share_across_arms(module.context(), tir::rewrite(module.context(), function->body, rewriter));
    if (!(body == function->body)) changed = Changed::kYes;
    function->body = body;
  }
  return changed;
}

}  // namespace relaxc
