// expansion_builder.cpp: see expansion_builder.h.
#include "compiler/ops/common/expansion_builder.h"

namespace relaxc::ops {

Value* ExpansionBuilder::call(relax::OpName op, std::vector<Value*> operands, relax::Attrs attrs) {
  if (failed_) return nullptr;
  for (Value* operand : operands)
    RELAXC_CHECK(operand != nullptr, "an expansion calls " + std::string(op.text()) + " without an operand");
  Result<Value*> value = b_.call(op, std::move(operands), std::move(attrs));
  failed_ = !value;
  return value ? *value : nullptr;
}

Value* ExpansionBuilder::as(Value* x, DType dtype) {
  return x == nullptr || x->dtype() == dtype ? x : call("astype", {x}, {{"dtype", dtype}});
}

Value* ExpansionBuilder::reshape(Value* x, Dims dims) {
  return failed_ ? nullptr : call("reshape", {x, b_.shape(std::move(dims))});
}

Value* ExpansionBuilder::permute(Value* x, std::vector<int64_t> axes) {
  return call("permute_dims", {x}, {{"axes", std::move(axes)}});
}

Value* ExpansionBuilder::part(Value* x, int64_t axis, Expr begin, Expr extent) {
  return failed_ ? nullptr : call("slice_part", {x, b_.shape({begin}), b_.shape({extent})}, {{"axis", axis}});
}

Values ExpansionBuilder::done(std::vector<Value*> results) {
  if (failed_) return b_.diag().failed();
  return results;
}

}  // namespace relaxc::ops
