// adaptive_pool.cpp: averages of a given number of windows that cover a tensor.
//
// Window o of `count` along an axis is [floor(o * dim / count), ceil((o + 1) * dim / count)), so windows overlap by one
// element if they do not divide the dim, and none is empty. Their sizes differ, so this is no sliding window; if all
// sizes are equal, nn.avg_pool computes the same and is scheduled better.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"
#include "compiler/ops/gradients/linear_maps.h"

namespace relaxc::ops::adaptive_pool_family {
namespace {

constexpr AttrDef kAttrs[] = {{"output_size", AttrType::kInts, true}};

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  const std::vector<int64_t>& size = c.op.attrs.ints("output_size");
  if (x->ndim < 3 || x->ndim > 5 || size.size() + 2 != static_cast<size_t>(x->ndim) || !x->dtype->is_float())
    return c.error(Kind::shape_mismatch,
                   "'{}' of {} to {} numbers; it takes floats [N, C, spatial…] and one number a "
                   "spatial dim",
                   c.op.def->name, to_string(c.op.operand(0)->info), size.size());
  Dims shape{(*x->shape)[0], (*x->shape)[1]};
  for (size_t k = 0; k < size.size(); ++k) {
    if (size[k] < 1) return c.error(Kind::invalid_attribute, "'{}' to {} along a spatial dim", c.op.def->name, size[k]);
    Expr dim = (*x->shape)[k + 2], one = c.context.index(1);
    RELAXC_DO(c.require(arith::le(one, dim), kDerivedDim, one, dim,
                        {Finding::kAtLeast, fmt::format("spatial dim {}", k)},
                        fmt::format("'{}': spatial dim {} is empty", c.op.def->name, k)));
    shape.push_back(c.context.index(size[k]));
  }
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

class AdaptivePool {
 public:
  explicit AdaptivePool(DefineContext& d)
      : d_(d), b_(d.builder), x_(d.input(0)), y_(d.output()), dtype_(wide(x_->dtype)) {}

  Stmt run() {
    return b_.nest(y_->shape, [&](const Indices& i) { return bounded(i, 2, {}, {}); });
  }

 private:
  /// Binds the begin and extent of the window of element `i` along `axis` and all later axes, then computes the mean.
  Stmt bounded(const Indices& i, size_t axis, Indices begins, Dims extents) {
    if (axis == y_->shape.size()) return mean(i, begins, extents);
    Expr parts = y_->shape[axis], dim = x_->shape[axis];
    return b_.let("begin", arith::floordiv(i[axis] * dim, parts), [&](Var begin) {
      return b_.let("extent", arith::ceildiv((i[axis] + 1) * dim, parts) - begin, [&](Var extent) {
        begins.push_back(begin), extents.push_back(extent);
        return bounded(i, axis + 1, begins, extents);
      });
    });
  }

  Stmt mean(const Indices& i, const Indices& begins, const Dims& extents) {
    BufferRef sum = b_.buffer("sum", dtype_, {}, tir::Scope::kLocal);
    Stmt add = b_.nest(extents, [&](const Indices& r) {
      Indices at{i[0], i[1]};
      for (size_t k = 0; k < r.size(); ++k) at.push_back(begins[k] + r[k]);
      return b_.store(sum, {}, b_.load(sum, {}) + cast(dtype_, b_.load(x_, at)));
    });
    Expr count = b_.index(1);
    for (Expr extent : extents) count = count * extent;
    Stmt divide = b_.store(y_, i, cast(y_->dtype, b_.load(sum, {}) / cast(dtype_, count)));
    return b_.alloc(sum, b_.seq({b_.store(sum, {}, d_.context().zero(dtype_)), add, divide}));
  }

  DefineContext& d_;
  tir::Builder& b_;
  BufferRef x_, y_;
  DType dtype_;
};

Stmt define(DefineContext& d) {
  return AdaptivePool(d).run();
}

constexpr OpDef kOps[] = {
    {.name = "nn.adaptive_avg_pool",
     .operands = kX,
     .attrs = kAttrs,
     .infer = infer,
     .define = define,
     .gradient = derivatives::adaptive_avg_pool,
     .doc = "means of [N, C, spatial…] over windows that divide each spatial dim into output_size parts"},
};

}  // namespace
}  // namespace relaxc::ops::adaptive_pool_family

RELAXC_OPERATORS(adaptive_pool, kOps)
