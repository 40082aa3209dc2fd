// indexing.cpp: see indexing.h.
#include "compiler/ops/common/indexing.h"

namespace relaxc::ops {

bool known_in_range(const Op& op, size_t index, Expr dim) {
  const Value* value = op.operand(index);
  if (dim.constant() == nullptr) return false;
  DType own = value->dtype();
  if (own.is_uint() && own.bits <= 32 && *dim.constant() >= int64_t{1} << own.bits) return true;
  if (value->op == nullptr || value->op->kind != relax::OpKind::kConstant) return false;
  bool inside = true;
  value->op->constant->with_bytes([&](std::span<const std::byte> bytes) {
    DType dtype = value->dtype();
    size_t size = static_cast<size_t>(dtype.bytes());
    for (size_t at = 0; at < bytes.size(); at += size) {
      int64_t element = relax::decode_integer(dtype, bytes.data() + at);
      inside &= element >= -*dim.constant() && element < *dim.constant();
    }
  });
  return inside;
}

Stmt check_indices(DefineContext& d, size_t index, Expr dim, Expr last) {
  if (!last && known_in_range(d.op, index, dim)) return {};
  BufferRef indices = d.input(index);
  Dims extents = indices->shape;
  if (last) extents.pop_back();
  return d.builder.nest(extents, [&](Indices i) {
    if (last) i.push_back(last);
    Expr element = cast(DType::index(), d.builder.load(indices, i)), zero = d.context().index(0);
    tir::Guard guard;
    guard.condition = arith::logical_and(arith::le(zero - dim, element), arith::lt(element, dim));
    guard.code = kIndexRange;
    guard.expected = dim;
    guard.actual = element;
    return d.builder.guard(guard);
  });
}

Expr subscript(Expr element, Expr dim) {
  Expr index = cast(DType::index(), element);
  if (element.dtype().is_uint()) return index;
  return select(arith::lt(index, index.context().index(0)), index + dim, index);
}

Result<const TensorInfo*> index_tensor(InferContext& c, size_t index) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(index));
  if (!x->dtype->is_integer())
    return c.error(Kind::dtype_mismatch, "operand '{}' of '{}' must be integers, found {}",
                   c.op.def->operands[index].name, c.op.def->name, to_string(*x->dtype));
  return x;
}

relaxc::Status check_reduction(InferContext& c) {
  const std::string& name = c.op.attrs.string("reduction");
  for (const char* known : {"none", "update", "add", "mul", "max", "min"})
    if (name == known) return Done{};
  return c.error(Kind::invalid_attribute, "reduction \"{}\" of '{}' is not one of none, add, mul, max, min", name,
                 c.op.def->name);
}

Expr combine(const std::string& reduction, Expr old_value, Expr update) {
  bool is_bool = update.dtype().is_bool();
  if (reduction == "add") return is_bool ? arith::logical_or(old_value, update) : old_value + update;
  if (reduction == "mul") return is_bool ? arith::logical_and(old_value, update) : old_value * update;
  if (reduction == "max") return is_bool ? arith::logical_or(old_value, update) : arith::max(old_value, update);
  if (reduction == "min") return is_bool ? arith::logical_and(old_value, update) : arith::min(old_value, update);
  return update;
}

}  // namespace relaxc::ops
