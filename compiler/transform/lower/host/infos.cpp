// infos.cpp: numbers and leaves of infos, and ops that are only views.
#include "compiler/transform/lower/host/infos.h"

#include "compiler/relax/op_def.h"

namespace relaxc::lower {

using namespace relax;
using arith::Expr;

std::vector<Expr> relax_dims(Info info) {
  if (const auto* tensor = info->as<TensorInfo>()) {
    RELAXC_CHECK(tensor->shape.has_value(), "a tensor of unknown shape");
    return *tensor->shape;
  }
  if (const auto* shape = info->as<ShapeInfo>()) {
    RELAXC_CHECK(shape->dims.has_value(), "a shape of unknown dims");
    return *shape->dims;
  }
  return {};
}

std::vector<Expr> numbers(Info info) {
  const auto* prim = info->as<PrimInfo>();
  return prim != nullptr && prim->value ? std::vector<Expr>{prim->value} : relax_dims(info);
}

void leaves(Info info, std::vector<Info>& out) {
  if (const auto* tuple = info->as<TupleInfo>())
    for (Info field : tuple->fields) leaves(field, out);
  else
    out.push_back(info);
}

size_t leaf_count(Info info) {
  std::vector<Info> list;
  leaves(info, list);
  return list.size();
}

DType stored_dtype(DType dtype) {
  return dtype.is_index() ? DType::i(64) : dtype;
}

bool is_view(const Op& op) {
  if (op.kind == OpKind::kOperator) return op.def->role == Role::kView;
  return op.kind == OpKind::kMatchCast && op.result()->info->as<TensorInfo>() != nullptr && !opens_object(op);
}

bool is_handle(const Value& value) {
  const auto* tensor = value.info->as<TensorInfo>();
  return tensor != nullptr && tensor->dtype == DType::handle();
}

bool opens_object(const Op& op) {
  return op.kind == OpKind::kMatchCast && is_handle(*op.operand(0)) && !is_handle(*op.result());
}

std::vector<Value*> with_viewed(Value& value) {
  std::vector<Value*> chain{&value};
  while (chain.back()->op != nullptr && is_view(*chain.back()->op)) chain.push_back(chain.back()->op->operand(0));
  return chain;
}

}  // namespace relaxc::lower
