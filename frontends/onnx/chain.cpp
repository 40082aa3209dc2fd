// chain.cpp: see chain.h.
#include "frontends/onnx/chain.h"

#include <algorithm>
#include <numeric>

namespace relaxc::frontend {

Value* Chain::take(Result<Value*> value) {
  if (!value) failed_ = true;
  return value ? *value : nullptr;
}

Value* Chain::call(OpName op, std::vector<Value*> operands, Attrs attrs) {
  if (failed_) return nullptr;
  return take(node.call(op, std::move(operands), std::move(attrs)));
}

Value* Chain::onnx(std::string_view op, int64_t opset, const std::vector<Value*>& inputs) {
  return failed_ ? nullptr : take(node.apply(op, opset, inputs));
}

Value* Chain::as(Value* x, DType dtype) {
  return x == nullptr || x->dtype() == dtype ? x : call("astype", {x}, {{"dtype", dtype}});
}

Value* Chain::like(Value* x, double value) {
  return failed_ ? nullptr : node.scalar(x->dtype(), value);
}

Value* Chain::reshape(Value* x, std::vector<Expr> dims) {
  return call("reshape", {x, node.shape(std::move(dims))});
}

Value* Chain::permute(Value* x, Ints axes) {
  return call("permute_dims", {x}, {{"axes", std::move(axes)}});
}

Value* Chain::slice(Value* x, int64_t axis, Expr begin, Expr end) {
  return call("strided_slice", {x, node.shape({begin}), node.shape({end})}, {{"axes", Ints{axis}}});
}

Value* Chain::reduce(OpName op, Value* x, Ints axes, bool keepdims) {
  return call(op, {x}, {{"axis", std::move(axes)}, {"keepdims", keepdims}});
}

Value* Chain::concat(std::vector<Value*> parts, int64_t axis) {
  return call("concat", std::move(parts), {{"axis", axis}});
}

Value* Chain::arange(Expr begin, Expr count) {
  return call("arange", {node.shape({begin, count, node.index(1)})});
}

Value* Chain::channels_first(Value* x) {
  if (failed_) return nullptr;
  Ints axes(x->shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  if (axes.size() > 2) std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
  return permute(x, std::move(axes));
}

Value* Chain::channels_last(Value* x) {
  if (failed_) return nullptr;
  Ints axes(x->shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  if (axes.size() > 2) std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  return permute(x, std::move(axes));
}

Status Chain::set(size_t index, Value* value) {
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
