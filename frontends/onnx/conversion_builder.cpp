// conversion_builder.cpp: see conversion_builder.h.
#include "frontends/onnx/conversion_builder.h"

#include <algorithm>
#include <numeric>

namespace relaxc::frontend {

Value* ConversionBuilder::take(Result<Value*> value) {
  if (!value) failed_ = true;
  return value ? *value : nullptr;
}

Value* ConversionBuilder::call(OpName op, std::vector<Value*> operands, Attrs attrs) {
  if (failed_) return nullptr;
  return take(node.call(op, std::move(operands), std::move(attrs)));
}

Value* ConversionBuilder::onnx(std::string_view op, int64_t opset, const std::vector<Value*>& inputs) {
  return failed_ ? nullptr : take(node.apply(op, opset, inputs));
}

Value* ConversionBuilder::as(Value* x, DType dtype) {
  return x == nullptr || x->dtype() == dtype ? x : call("astype", {x}, {{"dtype", dtype}});
}

Value* ConversionBuilder::like(Value* x, double value) {
  return failed_ ? nullptr : node.scalar(x->dtype(), value);
}

Value* ConversionBuilder::reshape(Value* x, std::vector<Expr> dims) {
  return call("reshape", {x, node.shape(std::move(dims))});
}

Value* ConversionBuilder::permute(Value* x, Ints axes) {
  return call("permute_dims", {x}, {{"axes", std::move(axes)}});
}

Value* ConversionBuilder::slice(Value* x, int64_t axis, Expr begin, Expr end) {
  return call("strided_slice", {x, node.shape({begin}), node.shape({end})}, {{"axes", Ints{axis}}});
}

Value* ConversionBuilder::reduce(OpName op, Value* x, Ints axes, bool keepdims) {
  return call(op, {x}, {{"axis", std::move(axes)}, {"keepdims", keepdims}});
}

Value* ConversionBuilder::concat(std::vector<Value*> parts, int64_t axis) {
  return call("concat", std::move(parts), {{"axis", axis}});
}

Value* ConversionBuilder::arange(Expr begin, Expr count) {
  return call("arange", {node.shape({begin, count, node.index(1)})});
}

Value* ConversionBuilder::channels_first(Value* x) {
  if (failed_) return nullptr;
  Ints axes(x->shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  if (axes.size() > 2) std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
  return permute(x, std::move(axes));
}

Value* ConversionBuilder::channels_last(Value* x) {
  if (failed_) return nullptr;
  Ints axes(x->shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  if (axes.size() > 2) std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  return permute(x, std::move(axes));
}

Status ConversionBuilder::set(size_t index, Value* value) {
  if (failed_) return failed();
  return node.set(index, value);
}

Result<int64_t> constant_dim(Node& node, Expr dim, std::string_view what) {
  if (const int64_t* number = dim.constant()) return *number;
  return node.error(Kind::unsupported, "{} must be a number when compiling, found {}", what, arith::to_string(dim));
}

Status expect_rank(Node& node, const Value* x, int64_t rank, std::string_view what) {
  if (rank_of(x) == rank) return Done{};
  return node.error(Kind::rank_mismatch, "{} must have {} dims, found {}", what, rank, relax::to_string(x->info));
}

}  // namespace relaxc::frontend
