// builder.cpp: adds typed ops.
#include "compiler/relax/builder.h"

#include <algorithm>
#include <cstring>

#include "compiler/relax/known.h"

namespace relaxc::relax {

GraphBuilder::GraphBuilder(Module& module, const OpTable& table, Block* block, Diagnostics& diag)
    : module_(module), table_(table), block_(block), diag_(diag) {}

GraphBuilder::GraphBuilder(Module& module, const OpTable& table, Op* before, Diagnostics& diag)
    : location(before->location), module_(module), table_(table), block_(before->block), before_(before), diag_(diag) {}

void GraphBuilder::insert(Op* op) {
  op->block = block_;
  auto at = before_ == nullptr ? block_->ops.end() : std::find(block_->ops.begin(), block_->ops.end(), before_);
  block_->ops.insert(at, op);
}

Op* GraphBuilder::append(OpKind kind, std::vector<Value*> operands) {
  Op* op = function().make_op(kind, location);
  for (Value* operand : operands) op->add_operand(operand);
  insert(op);
  return op;
}

Result<std::vector<Value*>> GraphBuilder::call_many(OpName name, std::vector<Value*> operands, Attrs attrs) {
  Diagnostics& diag = diag_;
  const OpDef* def = table_.of(name);
  RELAXC_CHECK(def != nullptr, "the table lacks " + std::string(name.text()));
  while (!operands.empty() && operands.back() == nullptr) operands.pop_back();
  Op* op = function().make_op(OpKind::kOperator, location);
  op->def = def;
  op->attrs = std::move(attrs);
  for (Value* operand : operands) op->add_operand(operand);
  arith::Facts room;
  bool ok = complete_op(*op, diag) && infer_op(function(), *op, known_facts(*block_->parent, before_, room), diag);
  if (!ok) {
    op->drop_operands();
    return diag.failed();
  }
  insert(op);
  return op->results;
}

Result<Value*> GraphBuilder::call(OpName name, std::vector<Value*> operands, Attrs attrs, std::string result_name) {
  RELAXC_TRY(std::vector<Value*> results, call_many(name, std::move(operands), std::move(attrs)));
  RELAXC_CHECK(results.size() == 1, std::string(name.text()) + " has several results");
  results[0]->name = std::move(result_name);
  return results[0];
}

Value* GraphBuilder::constant(ConstantRef data, std::string name) {
  std::vector<Expr> shape;
  for (int64_t dim : data->shape()) shape.push_back(context().index(dim));
  Op* op = append(OpKind::kConstant, {});
  op->constant = data;
  return function().make_result(op, std::move(name), tensor_info(context(), std::move(shape), data->dtype()));
}

Value* GraphBuilder::scalar(DType dtype, double value) {
  return constant(ConstantData::inline_bytes(dtype, {}, encode_scalar(dtype, value)));
}

Value* GraphBuilder::int64s(const std::vector<int64_t>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(int64_t));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return constant(ConstantData::inline_bytes(DType::i(64), {static_cast<int64_t>(values.size())}, std::move(bytes)));
}

Value* GraphBuilder::shape(std::vector<Expr> dims) {
  Op* op = append(OpKind::kShape, {});
  return function().make_result(op, {}, shape_info(context(), std::move(dims)));
}

Value* GraphBuilder::prim(Expr value) {
  Op* op = append(OpKind::kPrim, {});
  return function().make_result(op, {}, prim_info(context(), value.dtype(), value));
}

Value* GraphBuilder::tuple(std::vector<Value*> fields) {
  std::vector<Info> infos;
  for (Value* field : fields) infos.push_back(field->info);
  Op* op = append(OpKind::kTuple, std::move(fields));
  return function().make_result(op, {}, tuple_info(context(), std::move(infos)));
}

Result<Value*> GraphBuilder::tuple_get(Value* tuple, int64_t index) {
  const auto* info = tuple->info->as<TupleInfo>();
  if (info == nullptr)
    return diag_.error(location, Kind::dtype_mismatch, "only a tuple can be indexed, found {}", to_string(tuple->info));
  int64_t size = static_cast<int64_t>(info->fields.size());
  if (index < 0 || index >= size)
    return diag_.error(location, Kind::invalid_value, "index {} of a tuple of {} fields", index, size);
  Op* op = append(OpKind::kTupleGet, {tuple});
  op->attrs.set("index", index);
  return function().make_result(op, {}, info->fields[static_cast<size_t>(index)]);
}

Result<Value*> GraphBuilder::match_cast(Value* value, Info info, std::vector<Var> binds) {
  Op* op = append(OpKind::kMatchCast, {value});
  op->binds = std::move(binds);
  return function().make_result(op, {}, info);
}

Op* GraphBuilder::call_tir(std::string callee, std::vector<Value*> operands, std::vector<Info> results) {
  Op* op = append(OpKind::kCallTir, std::move(operands));
  op->callee = std::move(callee);
  for (Info info : results) function().make_result(op, {}, info);
  return op;
}

}  // namespace relaxc::relax
