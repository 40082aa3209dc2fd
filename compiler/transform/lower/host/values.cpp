// values.cpp: buffers and numbers of values.
#include "compiler/transform/lower/host/values.h"

#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc::lower {

using namespace relax;

BufferRef Values::buffer(const Value& value) {
  BufferRef found = slot(value).buffer;
  RELAXC_CHECK(found != nullptr, "'" + value.name + "' has no memory");
  return found;
}

Expr Values::scalar(const Value& value) {
  const auto* prim = value.info->as<PrimInfo>();
  if (prim != nullptr && prim->value) return shapes_.symbols().known(prim->value);
  ConstantRef data = constant_of(&value);
  if (data != nullptr && data->elements() == 1 && !data->dtype().is_float())  // a constant can bound sizes
    return build_.context().imm(data->dtype(), decode_integer(data->dtype(), data->to_vector().data()));
  BufferRef memory = buffer(value);
  return build_.load(memory, tir::Indices(memory->shape.size(), build_.index(0)));
}

Expr Values::truth(const Value& value) {
  Expr e = scalar(value);
  return e.dtype() == DType::boolean() ? e : arith::ne(e, build_.context().zero(e.dtype()));
}

ValueStorage& Values::leaf(const Value& value, const std::vector<size_t>& path) {
  ValueStorage* at = &slot(value);
  for (size_t field : path) at = &at->fields.at(field);
  return *at;
}

}  // namespace relaxc::lower
