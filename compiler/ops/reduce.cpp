// reduce.cpp: reductions over axes.
//
// sum, prod, max, min are single reduce blocks in the order of the elements. Narrow floats are summed in float32 and
// rounded once. mean and related operators expand to a sum and elementwise operators, so that these fuse with their
// neighbours. The maximum of no elements is the lowest value of the dtype (-inf); NaN wins over numbers.
#include <algorithm>

#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"
#include "compiler/ops/gradients/products.h"
#include "compiler/relax/builder.h"

namespace relaxc::ops::reduce_family {
namespace {

using relax::GraphBuilder;
using Values = Result<std::vector<Value*>>;

constexpr AttrDef kAttrs[] = {{"axis", AttrType::kInts},
                              {"keepdims", AttrType::kBool, false, "False"},
                              {"none_is_all", AttrType::kBool, false, "True"}};

/// Returns the reduced axes in ascending order; deduction has checked them.
std::vector<int64_t> axes_of(const Op& op, size_t rank) {
  std::vector<int64_t> axes;
  for (int64_t axis : op.attrs.ints("axis")) axes.push_back(static_cast<int64_t>(axis_of(axis, rank)));
  if (axes.empty() && op.attrs.flag("none_is_all"))
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  std::sort(axes.begin(), axes.end());
  return axes;
}

bool any(DType) {
  return true;
}
bool is_bool(DType d) {
  return d.is_bool();
}

template <bool (*Fits)(DType)>
InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  if (!Fits(*x->dtype))
    return c.error(Kind::dtype_mismatch, "'{}' is not defined for {}", c.op.def->name, to_string(*x->dtype));
  if (!c.op.attrs.ints("axis").empty()) RELAXC_DO(all_or_axes(c, c.op.attrs.ints("axis"), x->ndim));
  std::vector<int64_t> axes = axes_of(c.op, x->shape->size());
  Dims shape;
  for (size_t i = 0; i < x->shape->size(); ++i) {
    if (!contains(axes, i))
      shape.push_back((*x->shape)[i]);
    else if (c.op.attrs.flag("keepdims"))
      shape.push_back(c.context.index(1));
  }
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

/// Returns the subscripts of x for the result's subscripts `i` and the reduced axes' subscripts `r`.
Indices gather_indices(const Op& op, size_t rank, const Indices& i, const Indices& r) {
  std::vector<int64_t> axes = axes_of(op, rank);
  bool keep = op.attrs.flag("keepdims");
  Indices from;
  for (size_t k = 0, kept = 0, reduced = 0; k < rank; ++k) {
    bool gone = contains(axes, k);
    from.push_back(gone ? r[reduced++] : i[kept]);
    if (!gone || keep) ++kept;
  }
  return from;
}

using Combine = Expr (*)(Expr, Expr);
using Start = Expr (*)(Context&, DType);

template <Start Init, Combine F>
Stmt define(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), y = d.output();
  DType dtype = wide(y->dtype);
  Dims reduced;
  for (int64_t axis : axes_of(d.op, x->shape.size())) reduced.push_back(x->shape[static_cast<size_t>(axis)]);
  auto reduce_into = [&](BufferRef out) {
    return b.reduce(out, reduced, Init(d.context(), dtype), [&](Expr sum, const Indices& i, const Indices& r) {
      return F(sum, widen(b.load(x, gather_indices(d.op, x->shape.size(), i, r))));
    });
  };
  if (dtype == y->dtype) return reduce_into(y);
  BufferRef wide_sum = b.buffer("wide", dtype, y->shape);
  return b.alloc(wide_sum, b.seq({reduce_into(wide_sum), b.compute(y, [&](const Indices& i) {
                                    return cast(y->dtype, b.load(wide_sum, i));
                                  })}));
}

Expr zero(Context& context, DType dtype) {
  return context.zero(dtype);
}
Expr unit(Context& context, DType dtype) {
  return context.number(dtype, 1);
}
Expr add(Expr a, Expr b) {
  return a + b;
}
Expr multiply(Expr a, Expr b) {
  return a * b;
}
Expr larger(Expr a, Expr b) {
  return a.dtype().is_bool() ? arith::logical_or(a, b) : arith::max(a, b);
}
Expr smaller(Expr a, Expr b) {
  return a.dtype().is_bool() ? arith::logical_and(a, b) : arith::min(a, b);
}

relax::Attrs attrs_of(const Op& op, bool keepdims) {
  relax::Attrs attrs = op.attrs;
  attrs.set("keepdims", keepdims);
  return attrs;
}

/// Returns how many elements each result is reduced from, as a scalar of `dtype`.
Result<Value*> reduced_count(GraphBuilder& b, const Op& op, DType dtype) {
  const Dims& shape = op.operand(0)->shape();
  Expr count = b.context().index(1);
  for (int64_t axis : axes_of(op, shape.size())) count = count * shape[static_cast<size_t>(axis)];
  if (count.constant() != nullptr) return b.scalar(dtype, static_cast<double>(*count.constant()));
  RELAXC_TRY(Value * list, b.call("shape_to_tensor", {b.shape({count})}));
  RELAXC_TRY(Value * scalar, b.call("reshape", {list, b.shape({})}));
  return b.call("astype", {scalar}, {{"dtype", dtype}});
}

/// Casts x to the dtype of the computation.
Result<Value*> widened(GraphBuilder& b, Value* x) {
  if (wide(x->dtype()) == x->dtype()) return x;
  return b.call("astype", {x}, {{"dtype", wide(x->dtype())}});
}

Values narrowed(GraphBuilder& b, Result<Value*> y, DType dtype) {
  RELAXC_TRY(Value * value, std::move(y));
  if (value->dtype() == dtype) return std::vector<Value*>{value};
  RELAXC_TRY(Value * cast_back, b.call("astype", {value}, {{"dtype", dtype}}));
  return std::vector<Value*>{cast_back};
}

Result<Value*> mean_of(GraphBuilder& b, const Op& op, Value* x, bool keepdims) {
  RELAXC_TRY(Value * sum, b.call("sum", {x}, attrs_of(op, keepdims)));
  RELAXC_TRY(Value * count, reduced_count(b, op, x->dtype()));
  return b.call("divide", {sum, count});
}

Values expand_mean(GraphBuilder& b, const Op& op) {
  RELAXC_TRY(Value * x, widened(b, op.operand(0)));
  return narrowed(b, mean_of(b, op, x, op.attrs.flag("keepdims")), op.result()->dtype());
}

/// Returns the mean of the squared differences from the mean.
Result<Value*> variance_of(GraphBuilder& b, const Op& op, Value* x) {
  RELAXC_TRY(Value * mean, mean_of(b, op, x, true));
  RELAXC_TRY(Value * distance, b.call("subtract", {x, mean}));
  RELAXC_TRY(Value * squared, b.call("square", {distance}));
  return mean_of(b, op, squared, op.attrs.flag("keepdims"));
}

Values expand_variance(GraphBuilder& b, const Op& op) {
  RELAXC_TRY(Value * x, widened(b, op.operand(0)));
  return narrowed(b, variance_of(b, op, x), op.result()->dtype());
}

Values expand_std(GraphBuilder& b, const Op& op) {
  RELAXC_TRY(Value * x, widened(b, op.operand(0)));
  RELAXC_TRY(Value * variance, variance_of(b, op, x));
  return narrowed(b, b.call("sqrt", {variance}), op.result()->dtype());
}

/// Computes log(sum(exp(x - m))) + m, where m is the maximum, or 0 if the maximum is infinite or NaN.
Values expand_log_sum_exp(GraphBuilder& b, const Op& op) {
  bool keep = op.attrs.flag("keepdims");
  RELAXC_TRY(Value * x, widened(b, op.operand(0)));
  RELAXC_TRY(Value * raw, b.call("max", {x}, attrs_of(op, true)));
  RELAXC_TRY(Value * finite, b.call("isfinite", {raw}));
  RELAXC_TRY(Value * top, b.call("where", {finite, raw, b.scalar(x->dtype(), 0)}));
  RELAXC_TRY(Value * lowered, b.call("subtract", {x, top}));
  RELAXC_TRY(Value * powers, b.call("exp", {lowered}));
  RELAXC_TRY(Value * sum, b.call("sum", {powers}, attrs_of(op, keep)));
  RELAXC_TRY(Value * log, b.call("log", {sum}));
  std::vector<int64_t> axes = axes_of(op, x->shape().size());
  if (!keep && !axes.empty()) {  // without axes, squeeze would remove every dim of 1
    RELAXC_TRY(top, b.call("squeeze", {top}, {{"axis", axes}}));
  }
  return narrowed(b, b.call("add", {log, top}), op.result()->dtype());
}

constexpr OpDef op(OpName name, relax::Infer infer, relax::Define define, std::string_view doc,
                   relax::Gradient gradient = nullptr) {
  return {.name = name,
          .operands = kX,
          .attrs = kAttrs,
          .infer = infer,
          .define = define,
          .gradient = gradient,
          .doc = doc};
}
constexpr OpDef composite(OpName name, relax::Infer infer, relax::Expand expand, std::string_view doc) {
  return {.name = name, .operands = kX, .attrs = kAttrs, .infer = infer, .expand = expand, .doc = doc};
}

/// Dims of x are kept, or summed to 1; the target may have fewer dims, aligned at the end.
InferResult infer_sum_to(InferContext& c) {
  RELAXC_DO(expect_dtype(c, 0, is_number, "a tensor of numbers"));
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(Dims target, c.shape_value(1));
  if (target.size() > x->shape->size())
    return c.error(Kind::rank_mismatch, "'sum_to' of {} dims to {}", x->shape->size(), target.size());
  RELAXC_DO(require_broadcast_to(c, target, *x->shape));
  return one(tensor_info(c.context, std::move(target), *x->dtype));
}

/// Sums over dims that the target lacks, and over those that are 1 there; extents of the others are 1.
Stmt define_sum_to(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef x = d.input(0), y = d.output();
  const size_t added = x->shape.size() - y->shape.size();
  const DType dtype = wide(y->dtype);
  const Expr single = d.context().index(1);
  Dims extents;
  for (size_t k = 0; k < x->shape.size(); ++k)
    extents.push_back(k < added ? x->shape[k] : select(arith::eq(y->shape[k - added], single), x->shape[k], single));
  BufferRef sum = b.buffer("sum", dtype, y->shape);
  Stmt add = b.reduce(sum, extents, d.context().zero(dtype), [&](Expr so_far, const Indices& i, const Indices& r) {
    Indices from = r;
    for (size_t k = added; k < from.size(); ++k)
      from[k] = select(arith::eq(y->shape[k - added], single), r[k], i[k - added]);
    return so_far + widen(b.load(x, from));
  });
  return b.alloc(sum, b.seq({add, b.compute(y, [&](const Indices& i) { return cast(y->dtype, b.load(sum, i)); })}));
}

constexpr OperandDef kXShape[] = {{"x"}, {"shape"}};

constexpr OpDef kOps[] = {
    op("sum", infer<is_number>, define<zero, add>, "sum over the axes; none given: all", derivatives::sum),
    op("prod", infer<is_number>, define<unit, multiply>, "product", derivatives::prod),
    op("max", infer<any>, define<lowest, larger>, "largest value", derivatives::extreme),
    op("min", infer<any>, define<highest, smaller>, "smallest value", derivatives::extreme),
    op("any", infer<is_bool>, define<lowest, larger>, "whether any is true"),
    op("all", infer<is_bool>, define<highest, smaller>, "whether all are true"),
    {.name = "sum_to",
     .operands = kXShape,
     .infer = infer_sum_to,
     .define = define_sum_to,
     .gradient = derivatives::sum_to,
     .doc = "the sum that undoes a broadcast of a tensor of this shape to that of x"},
    composite("mean", infer<is_number>, expand_mean, "sum / number of elements"),
    composite("variance", infer<is_float>, expand_variance, "mean of the squared distances from the mean"),
    composite("std", infer<is_float>, expand_std, "square root of the variance"),
    composite("log_sum_exp", infer<is_float>, expand_log_sum_exp, "log(sum(exp(x))) without overflow"),
};

}  // namespace
}  // namespace relaxc::ops::reduce_family

RELAXC_OPERATORS(reduce, kOps)
