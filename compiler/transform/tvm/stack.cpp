// stack.cpp: the scan output of a loop, as a tensor that each iteration makes one row longer.
//
// A dim of a row that only the loop decides is a symbol of the tensor of rows. Before the first iteration it is 0, so
// that iteration takes its own row alone; each later one has to fit, which a match_cast checks.
#include "compiler/transform/tvm/stack.h"

#include <algorithm>

namespace relaxc {

using namespace relax;

Stack::Stack(const TensorInfo& result, Expr step, const std::vector<Var>& own) : dtype_(*result.dtype), step_(step) {
  for (size_t axis = 1; axis < result.shape->size(); ++axis) {
    Expr dim = (*result.shape)[axis];
    std::vector<Var> vars = arith::free_vars(dim);
    bool decided = std::any_of(vars.begin(), vars.end(),
                               [&](Var var) { return std::find(own.begin(), own.end(), var) != own.end(); });
    row_.push_back(decided ? Expr(context().var("row")) : dim);
    zero_.push_back(decided ? context().index(0) : dim);
    open_ = open_ || decided;
  }
  std::vector<Expr> dims{step_};
  dims.insert(dims.end(), row_.begin(), row_.end());
  info = tensor_info(context(), std::move(dims), dtype_);
}

Info Stack::result_info() const {
  return tensor_info(context(), static_cast<int32_t>(row_.size()) + 1, dtype_);
}

Result<Value*> Stack::empty(GraphBuilder& builder) const {
  std::vector<Expr> dims{context().index(0)};
  dims.insert(dims.end(), zero_.begin(), zero_.end());
  return builder.call("zeros", {builder.shape(std::move(dims))}, {{"dtype", dtype_}});
}

Result<Value*> Stack::joined(GraphBuilder& builder, Value* row) const {
  std::vector<Expr> dims{context().index(1)};
  dims.insert(dims.end(), row_.begin(), row_.end());
  Info fitting = tensor_info(context(), dims, dtype_);
  if (!same(row->info, fitting)) {
    RELAXC_TRY(row, builder.match_cast(row, fitting, {}));
  }
  return builder.call("concat", {so_far, row}, {{"axis", int64_t{0}}});
}

Result<Value*> Stack::push(GraphBuilder& builder, Value* row) const {
  std::vector<Expr> dims{context().index(1)};
  dims.insert(dims.end(), row->shape().begin(), row->shape().end());
  RELAXC_TRY(Value * first, builder.call("reshape", {row, builder.shape(std::move(dims))}));
  if (!open_) return joined(builder, first);
  Function& function = builder.function();
  Op* branch = builder.append(OpKind::kIf, {builder.prim(arith::eq(step_, 0))});
  Region *begins = function.make_region(branch), *goes_on = function.make_region(branch);
  function.make_block(begins, false);
  begins->yield->add_operand(first);
  GraphBuilder later(builder.module(), builder.table(), function.make_block(goes_on, false), builder.diag());
  later.location = builder.location;
  RELAXC_TRY(Value * longer, joined(later, first));
  goes_on->yield->add_operand(longer);
  Value* rows = function.make_result(branch, "rows", result_info());
  std::vector<Expr> known{step_ + 1};
  std::vector<Var> read;
  for (size_t axis = 0; axis < row_.size(); ++axis) {
    bool decided = zero_[axis] != row_[axis];
    if (decided) read.push_back(context().var("row"));
    known.push_back(decided ? Expr(read.back()) : row_[axis]);
  }
  return builder.match_cast(rows, tensor_info(context(), std::move(known), dtype_), read);
}

}  // namespace relaxc
