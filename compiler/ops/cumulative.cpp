// cumulative.cpp: running sums and products along an axis.
//
// Each row is one serial chain, in float32 for narrow floats, rounded where it is stored.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"

namespace relaxc::ops {
namespace {

constexpr AttrDef kAttrs[] = {{"axis", AttrType::kInt, true},
                              {"exclusive", AttrType::kBool, false, "False"},
                              {"reverse", AttrType::kBool, false, "False"}};

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_DO(c.axis(c.op.attrs.integer("axis"), x->ndim));
  if (!is_number(*x->dtype))
    return c.error(Kind::dtype_mismatch, "'{}' is not defined for {}", c.op.def->name, to_string(*x->dtype));
  return one(tensor_info(c.context, *x->shape, *x->dtype));
}

template <bool Product>
Stmt define(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), y = d.output();
  size_t axis = axis_of(d.attrs().integer("axis"), x->shape.size());
  DType dtype = wide(x->dtype);
  BufferRef total = b.buffer("total", dtype, {b.index(1)}, tir::Scope::kLocal);
  Expr first = b.index(0), sum = b.load(total, {first});
  Dims rows = x->shape;
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(axis));
  return b.nest(rows, [&](const Indices& row) {
    auto step = [&](Var k) {
      Indices i = row;
      i.insert(i.begin() + static_cast<std::ptrdiff_t>(axis), d.attrs().flag("reverse") ? x->shape[axis] - 1 - k : k);
      Expr value = widen(b.load(x, i));
      Stmt update = b.store(total, {first}, Product ? sum * value : sum + value);
      Stmt store = b.store(y, i, cast(y->dtype, sum));
      return d.attrs().flag("exclusive") ? b.seq({store, update}) : b.seq({update, store});
    };
    return b.alloc(total, b.seq({b.store(total, {first}, d.context().number(dtype, Product ? 1 : 0)),
                                 b.loop("k", x->shape[axis], step)}));
  });
}

constexpr OpDef kOps[] = {
    {.name = "cumsum",
     .operands = kX,
     .attrs = kAttrs,
     .infer = infer,
     .define = define<false>,
     .doc = "sums of the elements up to each one (exclusive: before it; reverse: from the end) along axis"},
    {.name = "cumprod",
     .operands = kX,
     .attrs = kAttrs,
     .infer = infer,
     .define = define<true>,
     .doc = "products of the elements up to each one (exclusive: before it; reverse: from the end) along axis"},
};

}  // namespace
}  // namespace relaxc::ops

RELAXC_OPERATORS(cumulative, kOps)
