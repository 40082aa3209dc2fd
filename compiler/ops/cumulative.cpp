// cumulative.cpp: running sums and products along an axis.
//
// Each row is one serial chain, in float32 for narrow floats, rounded where it is stored.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"
#include "compiler/ops/gradients/products.h"

namespace relaxc::ops::cumulative_family {
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

/// Computes running sums or products. Unless the axis is the last one, the inner loop is over the later axes, with a
/// total for each of their elements, so that it can be vectorized.
template <bool Product>
Stmt define(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), y = d.output();
  const size_t axis = axis_of(d.attrs().integer("axis"), x->shape.size());
  const DType dtype = wide(x->dtype);
  const auto place = x->shape.begin() + static_cast<std::ptrdiff_t>(axis);
  const Dims outer(x->shape.begin(), place), inner(place + 1, x->shape.end());
  const bool is_last = inner.empty();
  BufferRef total =
      b.buffer("total", dtype, is_last ? Dims{b.index(1)} : inner, is_last ? tir::Scope::kLocal : tir::Scope::kGlobal);
  auto step = [&](Indices i, const Indices& at) {
    Expr sum = b.load(total, is_last ? Indices{b.index(0)} : at);
    i.insert(i.end(), at.begin(), at.end());
    Expr value = widen(b.load(x, i));
    Stmt update = b.store(total, is_last ? Indices{b.index(0)} : at, Product ? sum * value : sum + value);
    Stmt store = b.store(y, i, cast(y->dtype, sum));
    return d.attrs().flag("exclusive") ? b.seq({store, update}) : b.seq({update, store});
  };
  return b.nest(outer, [&](const Indices& row) {
    Stmt sums = b.loop("k", x->shape[axis], [&](Var k) {
      Indices i = row;
      i.push_back(d.attrs().flag("reverse") ? x->shape[axis] - 1 - k : k);
      return b.nest(inner, [&](const Indices& at) { return step(i, at); });
    });
    Stmt start = b.nest(total->shape, [&](const Indices& at) {
      return b.store(total, at, d.context().number(dtype, Product ? 1 : 0));
    });
    return b.alloc(total, b.seq({start, sums}));
  });
}

constexpr OpDef kOps[] = {
    {.name = "cumsum",
     .operands = kX,
     .attrs = kAttrs,
     .infer = infer,
     .define = define<false>,
     .gradient = derivatives::cumsum,
     .doc = "sums of the elements up to each one (exclusive: before it; reverse: from the end) along axis"},
    {.name = "cumprod",
     .operands = kX,
     .attrs = kAttrs,
     .infer = infer,
     .define = define<true>,
     .gradient = derivatives::cumprod,
     .doc = "products of the elements up to each one (exclusive: before it; reverse: from the end) along axis"},
};

}  // namespace
}  // namespace relaxc::ops::cumulative_family

RELAXC_OPERATORS(cumulative, kOps)
