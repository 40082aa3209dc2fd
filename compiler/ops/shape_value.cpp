// shape_value.cpp: conversions between tensors and shape values.
//
// Host code implements these: they copy a few integers between the shape program and memory. canonicalize removes
// conversions of a shape to a tensor and back (Shape, Gather, Concat, Reshape in ONNX).
#include "compiler/ops/common/shape.h"

namespace relaxc::ops::shape_value_family {
namespace {

constexpr OperandDef kShape[] = {{"shape"}};
constexpr OperandDef kPrim[] = {{"value"}};

InferResult infer_shape_of(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  return one(shape_info(c.context, *x->shape));
}

Stmt define_nothing(DefineContext&) {
  return {};
}

InferResult infer_shape_to_tensor(InferContext& c) {
  RELAXC_TRY(Dims dims, c.shape_value(0));
  return one(tensor_info(c.context, Dims{c.context.index(static_cast<int64_t>(dims.size()))}, DType::i(64)));
}

Stmt define_shape_to_tensor(DefineContext& d) {
  std::vector<Stmt> stores;
  const Dims& dims = d.shape_value(0);
  for (size_t k = 0; k < dims.size(); ++k)
    stores.push_back(
        d.builder.store(d.output(), {d.builder.index(static_cast<int64_t>(k))}, cast(DType::i(64), dims[k])));
  return d.builder.seq(std::move(stores));
}

InferResult infer_prim_to_tensor(InferContext& c) {
  const auto* prim = c.op.operand(0)->info->as<relax::PrimInfo>();
  if (prim == nullptr)
    return c.error(Kind::dtype_mismatch, "'prim_to_tensor' takes a scalar such as R.prim_value(n), found {}",
                   to_string(c.op.operand(0)->info));
  return one(tensor_info(c.context, Dims{}, prim->dtype.is_index() ? DType::i(64) : prim->dtype));
}

Stmt define_prim_to_tensor(DefineContext& d) {
  Expr value = d.op.operand(0)->info->as<relax::PrimInfo>()->value;
  return d.builder.store(d.output(), {}, cast(d.output()->dtype, value));
}

/// Binds each element as a symbol, which may be negative.
InferResult infer_tensor_to_shape(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  bool fits = x->dtype->is_integer() && x->ndim <= 1 && (x->ndim == 0 || (*x->shape)[0].constant() != nullptr);
  if (!fits)
    return c.error(Kind::shape_mismatch,
                   "'tensor_to_shape' takes an integer scalar or a vector of constant extent, found {}",
                   to_string(c.op.operand(0)->info));
  int64_t count = x->ndim == 0 ? 1 : *(*x->shape)[0].constant();
  if (count > 64) return c.error(Kind::unsupported, "'tensor_to_shape' of {} elements; 64 are the most", count);
  Dims dims;
  for (int64_t k = 0; k < count; ++k)
    dims.push_back(c.bound_symbol(static_cast<size_t>(k), "value" + std::to_string(k)));
  return one(shape_info(c.context, std::move(dims)));
}

Stmt define_tensor_to_shape(DefineContext& d) {
  BufferRef x = d.input(0);
  std::vector<Stmt> stores;
  for (size_t k = 0; k < d.op.binds.size(); ++k) {
    Indices at;
    if (!x->shape.empty()) at.push_back(d.builder.index(static_cast<int64_t>(k)));
    stores.push_back(
        d.builder.store(d.bound_value(k), {d.builder.index(0)}, cast(DType::i(64), d.builder.load(x, at))));
  }
  return d.builder.seq(std::move(stores));
}

Expr no_bound(const Op&, size_t) {
  return {};
}

using relax::Role;

constexpr OpDef kOps[] = {
    {.name = "shape_of",
     .operands = kX,
     .infer = infer_shape_of,
     .define = define_nothing,
     .role = Role::kHost,
     .doc = "the shape of x as a shape value"},
    {.name = "shape_to_tensor",
     .operands = kShape,
     .infer = infer_shape_to_tensor,
     .define = define_shape_to_tensor,
     .role = Role::kHost,
     .doc = "a shape value as a vector of int64"},
    {.name = "prim_to_tensor",
     .operands = kPrim,
     .infer = infer_prim_to_tensor,
     .define = define_prim_to_tensor,
     .role = Role::kHost,
     .doc = "a scalar as a tensor of rank 0"},
    {.name = "tensor_to_shape",
     .operands = kX,
     .infer = infer_tensor_to_shape,
     .define = define_tensor_to_shape,
     .upper_bound = no_bound,
     .role = Role::kHost,
     .doc = "an integer vector (or scalar) as a shape value, whose dims are new symbols"},
};

}  // namespace
}  // namespace relaxc::ops::shape_value_family

RELAXC_OPERATORS(shape_value, kOps)
