// matmul.cpp: the matrix product of NumPy's matmul: leading dims are batches that broadcast; a vector on the left is a
// row, one on the right a column, and the added dim is removed from the result.
//
// There is one reduce block, which sums in ascending k. Narrow floats are summed in float32. `out_dtype` lets int8
// operands have an int32 product: they are widened before they are multiplied, so one of them may be uint8.
#include "compiler/ops/common/cast_hint.h"
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"
#include "compiler/ops/gradients/products.h"

namespace relaxc::ops::matmul_family {
namespace {

constexpr OperandDef kAB[] = {{"a"}, {"b"}};
constexpr AttrDef kAttrs[] = {{"out_dtype", AttrType::kString}};

/// Returns `full` without its last `drop` dims.
Dims leading(const Dims& full, size_t drop) {
  return Dims(full.begin(), full.end() - static_cast<std::ptrdiff_t>(std::min(drop, full.size())));
}

Result<DType> out_dtype(InferContext& c, DType operand) {
  const std::string& name = c.op.attrs.string("out_dtype");
  if (name.empty() || name == "void") return operand;
  std::optional<DType> dtype = parse_dtype(name);
  if (!dtype || !is_number(*dtype))
    return c.error(Kind::invalid_attribute, "out_dtype \"{}\" of '{}' is not a numeric dtype", name, c.op.def->name);
  return *dtype;
}

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* a, c.tensor(0));
  RELAXC_TRY(const TensorInfo* b, c.tensor(1));
  RELAXC_TRY(DType dtype, out_dtype(c, *a->dtype));
  auto is_byte = [](DType d) { return d.is_integer() && d.bits == 8; };
  bool bytes = is_byte(*a->dtype) && is_byte(*b->dtype) && dtype == DType::i(32);
  if (a->dtype != b->dtype && !bytes)
    return c.error(Kind::dtype_mismatch, "'matmul' of {} and {}; {}", to_string(*a->dtype), to_string(*b->dtype),
                   cast_hint(c));
  if (!is_number(*a->dtype))
    return c.error(Kind::dtype_mismatch, "'matmul' of {} and {}", to_string(*a->dtype), to_string(*b->dtype));
  if (a->ndim == 0 || b->ndim == 0) return c.error(Kind::rank_mismatch, "'matmul' takes no scalars");
  Expr inner_a = a->shape->back(), inner_b = b->ndim == 1 ? (*b->shape)[0] : (*b->shape)[b->shape->size() - 2];
  if (!arith::prove_equal(inner_a, inner_b, c.facts))
    RELAXC_DO(c.require(arith::eq(inner_a, inner_b), kDerivedDim, inner_a, inner_b, {Finding::kDiffer, "inner dims"},
                        fmt::format("matmul of {} and {}: inner dims {} and {} differ", text(*a->shape),
                                    text(*b->shape), to_string(inner_a), to_string(inner_b))));
  RELAXC_TRY(Dims shape, broadcast_dims(c, leading(*a->shape, 2), leading(*b->shape, 2)));
  if (a->ndim > 1) shape.push_back((*a->shape)[a->shape->size() - 2]);
  if (b->ndim > 1) shape.push_back(b->shape->back());
  return one(tensor_info(c.context, std::move(shape), dtype));
}

Stmt define(DefineContext& d) {
  tir::Builder& builder = d.builder;
  BufferRef a = d.input(0), b = d.input(1), y = d.output();
  bool row = a->shape.size() > 1, column = b->shape.size() > 1;
  Dims batch = leading(y->shape, static_cast<size_t>(row) + static_cast<size_t>(column));
  DType dtype = wide(y->dtype);

  auto read = [&](BufferRef x, const Indices& i, Expr last_but_one, Expr last) {
    Indices at = broadcast_indices(leading(x->shape, 2), leading(i, i.size() - batch.size()), batch);
    if (last_but_one) at.push_back(last_but_one);
    at.push_back(last);
    return cast(dtype, builder.load(x, at));
  };
  auto product_at = [&](Expr sum, const Indices& i, const Indices& k) {
    Expr m = row ? i[batch.size()] : Expr(), n = column ? i.back() : Expr();
    Expr left = read(a, i, m, k[0]);
    Expr right = column ? read(b, i, k[0], n) : read(b, i, {}, k[0]);
    return sum + left * right;
  };
  auto into = [&](BufferRef out) {
    return builder.reduce(out, {a->shape.back()}, d.context().zero(dtype), product_at, "matmul");
  };
  if (dtype == y->dtype) return into(y);
  BufferRef sum = builder.buffer("wide", dtype, y->shape);
  auto narrow = [&](const Indices& i) { return cast(y->dtype, builder.load(sum, i)); };
  return builder.alloc(sum, builder.seq({into(sum), builder.compute(y, narrow)}));
}

constexpr OpDef kOps[] = {
    {.name = "matmul",
     .operands = kAB,
     .attrs = kAttrs,
     .infer = infer,
     .define = define,
     .gradient = derivatives::matmul,
     .doc =
         "matrix product with broadcast batches; vectors as in NumPy; out_dtype: dtype of the sum and of the result"},
};

}  // namespace
}  // namespace relaxc::ops::matmul_family

RELAXC_OPERATORS(matmul, kOps)
