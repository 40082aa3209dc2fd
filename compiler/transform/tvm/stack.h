// stack.h: the scan output of a loop, as a tensor that each iteration makes one row longer.
#pragma once

#include <vector>

#include "compiler/relax/builder.h"

namespace relaxc {

class Stack {
 public:
  /// `result` is the type of the whole scan output, `step` the number of rows so far. Dims that mention one of `own`
  /// are decided by the loop, by its first iteration.
  Stack(const relax::TensorInfo& result, relax::Expr step, const std::vector<relax::Var>& own);

  relax::Info info = nullptr;      ///< of the rows so far
  relax::Value* so_far = nullptr;  ///< the parameter that has them
  /// The type of the whole as the function declares it: by its rank, since the number of rows is not that of a call.
  relax::Info result_info() const;
  /// Returns no rows.
  Result<relax::Value*> empty(relax::GraphBuilder& builder) const;
  /// Returns the rows so far and `row` after them.
  Result<relax::Value*> push(relax::GraphBuilder& builder, relax::Value* row) const;

 private:
  relax::Context& context() const { return step_.context(); }
  Result<relax::Value*> joined(relax::GraphBuilder& builder, relax::Value* row) const;

  DType dtype_;
  relax::Expr step_;
  std::vector<relax::Expr> row_;   ///< the dims of a row in the function of the loop
  std::vector<relax::Expr> zero_;  ///< the same before the first iteration: 0 where the loop decides
  bool open_ = false;              ///< whether the loop decides any
};

}  // namespace relaxc
