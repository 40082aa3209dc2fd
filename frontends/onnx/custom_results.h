// custom_results.h: the results of a custom operator by its rule, for nodes of any format. Both frontends that read
// rules include it, and neither links the other.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "compiler/relax/graph.h"
#include "frontends/onnx/custom_op.h"

namespace relaxc::frontend {

/// Returns the infos of the results for these operands. `extent` evaluates a dim. Fails, at `where`, if the rule has no
/// dtype and there is no operand whose dtype the result could have.
inline Result<std::vector<relax::Info>> custom_results(const CustomOp& op, arith::Context& context,
                                                       const std::vector<relax::Value*>& operands,
                                                       const std::function<Result<arith::Expr>(const RuleDim&)>& extent,
                                                       Location where, Diagnostics& diag) {
  std::vector<relax::Info> infos;
  for (const RuleTensor& rule : op.results) {
    if (rule.like >= 0) {
      infos.push_back(operands[static_cast<size_t>(rule.like)]->info);
      continue;
    }
    if (!rule.dtype && operands.empty())
      return diag.error(where, Kind::dtype_mismatch,
                        "its rule gives no dtype for a result, and there is no operand to take it from");
    std::vector<arith::Expr> dims;
    for (const RuleDim& dim : rule.dims) {
      RELAXC_TRY(arith::Expr size, extent(dim));
      dims.push_back(size);
    }
    infos.push_back(relax::tensor_info(context, std::move(dims), rule.dtype ? *rule.dtype : operands[0]->dtype()));
  }
  return infos;
}

}  // namespace relaxc::frontend
