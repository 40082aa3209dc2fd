// pool.cpp: maximum, average and L2 norm of sliding windows over 1, 2 or 3 spatial dims.
//
// Padding never is a maximum (it is the lowest value) and adds nothing to a sum. The average divides by the number of
// actual elements or, with count_include_pad, by that within the padded dim: with ceil_mode the last window may extend
// beyond the padding. So may the only window if the padded dim is smaller than it by less than a stride, as in ONNX
// Runtime; if by less than two strides, there is no window; if by more, the pool is refused. With `indices`, max_pool
// has a second result: the flat position of the maximum in the whole tensor (row-major, or column-major over the
// spatial dims with storage_order 1), as in ONNX. The pools by rows are the same ones of [N, H, C, W] (conv.cpp has
// why).
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/window.h"
#include "compiler/ops/gradients/windows.h"

namespace relaxc::ops::pool_family {
namespace {

constexpr AttrDef kPoolSize{"pool_size", AttrType::kInts, true};
constexpr AttrDef kCeil{"ceil_mode", AttrType::kBool, false, "False"};
constexpr AttrDef kMax[] = {kPoolSize,
                            kStrides,
                            kPadding,
                            kDilations,
                            kCeil,
                            {"indices", AttrType::kBool, false, "False"},
                            {"storage_order", AttrType::kInt, false, "0"}};
constexpr AttrDef kMaxByRows[] = {kPoolSize, kStrides, kPadding, kDilations, kCeil};
constexpr AttrDef kAvg[] = {kPoolSize,  kStrides, kPadding,
                            kDilations, kCeil,    {"count_include_pad", AttrType::kBool, false, "False"}};
constexpr AttrDef kLp[] = {kPoolSize, kStrides, kPadding, kDilations, kCeil, {"p", AttrType::kInt, false, "2"}};

/// Returns how much larger the window is than the padded dim, at least 0; also 0 if the dim is not constant.
int64_t excess(Expr dim, const Windows& w, size_t axis) {
  if (dim.constant() == nullptr) return 0;
  int64_t span = (w.kernel[axis] - 1) * w.dilations[axis] + 1, least = span - w.pad_begin[axis] - w.pad_end[axis];
  return std::max(least, *dim.constant()) - *dim.constant();  // a dim may be as large as int64 allows
}

/// Returns how much larger the window may be than a padded dim of at least 1 that is not constant; else 0.
int64_t open_excess(Expr dim, const Windows& w, size_t axis) {
  if (dim.constant() != nullptr) return 0;
  return std::max<int64_t>(0, (w.kernel[axis] - 1) * w.dilations[axis] - w.pad_begin[axis] - w.pad_end[axis]);
}

/// Returns the number of windows along a dim. The quotient by the stride is truncated towards 0, so that a window
/// remains which the dim is too short for by less than a stride. A guard on the result's size refuses negative numbers.
Result<Expr> count_windows(InferContext& c, Expr dim, const Windows& w, size_t axis) {
  Expr one = c.context.index(1), kernel = c.context.index(w.kernel[axis]);
  bool ceil = c.op.attrs.flag("ceil_mode");
  int64_t stride = w.strides[axis];
  RELAXC_DO(c.require(arith::le(one, dim), kDerivedDim, one, dim,
                      {Finding::kAtLeast, fmt::format("spatial dim {}", axis)},
                      fmt::format("'{}': spatial dim {} is empty", c.op.def->name, axis)));
  Expr count = arith::simplify(window_count(dim, kernel, w, axis, ceil), c.facts);
  int64_t missing = std::max(excess(dim, w, axis), open_excess(dim, w, axis));
  if (ceil || missing == 0 || stride == 1) return count;
  Expr few = c.context.index(1);  // the number if the window is larger than the dim
  if (missing >= stride) {
    int64_t span = (w.kernel[axis] - 1) * w.dilations[axis] + 1;
    Expr lacking = arith::max(c.context.index(0), c.context.index(span - w.pad_begin[axis] - w.pad_end[axis]) - dim);
    few = few - arith::floordiv(lacking, stride);
  }
  return arith::simplify(arith::max(count, few), c.facts);
}

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  const auto& size = c.op.attrs.ints("pool_size");
  if (x->ndim < 3 || x->ndim > 5 || size.size() + 2 != static_cast<size_t>(x->ndim))
    return c.error(Kind::rank_mismatch,
                   "'{}' of {} dims with a window of {}; it takes [N, C, spatial…] and one number a spatial dim",
                   c.op.def->name, x->ndim, size.size());
  if (!is_number(*x->dtype))
    return c.error(Kind::dtype_mismatch, "'{}' is not defined for {}", c.op.def->name, to_string(*x->dtype));
  RELAXC_TRY(Windows w, read_windows(c, size.size(), size));
  const Dims dims = channels_second(c.op, *x->shape);
  Dims shape{dims[0], dims[1]};
  for (size_t k = 0; k < size.size(); ++k) {
    if (size[k] < 1) return c.error(Kind::invalid_attribute, "a window of '{}' has extent {}", c.op.def->name, size[k]);
    RELAXC_TRY(Expr count, count_windows(c, dims[k + 2], w, k));
    Expr zero = c.context.index(0);
    RELAXC_DO(
        c.require(arith::le(zero, count), kDerivedDim, zero, count,
                  {Finding::kAtLeast, fmt::format("spatial dim {} of the result", k)},
                  fmt::format("'{}': spatial dim {} of the result would be {}", c.op.def->name, k, to_string(count))));
    shape.push_back(count);
  }
  return one(tensor_info(c.context, channels_second(c.op, std::move(shape)), *x->dtype));
}

InferResult infer_max(InferContext& c) {
  RELAXC_TRY(std::vector<Info> infos, infer(c));
  if (c.op.attrs.flag("indices"))
    infos.push_back(tensor_info(c.context, *infos[0]->as<TensorInfo>()->shape, DType::i(64)));
  return infos;
}

/// The windows of a pooling op over its operand.
struct Pool {
  explicit Pool(DefineContext& d, bool largest = false)
      : d(d),
        largest(largest),
        x(d.input(0)),
        dims(channels_second(d.op, x->shape)),
        spatial(x->shape.size() - 2),
        w(windows_of(d.op, spatial, d.attrs().ints("pool_size"))) {
    // A window that reaches beyond the end is clipped as if there were padding.
    for (size_t k = 0; k < spatial; ++k)
      clip.pad_end.push_back(w.pad_end[k] + (d.attrs().flag("ceil_mode") ? w.strides[k] : 0) +
                             excess(dims[k + 2], w, k));
    clip.kernel = w.kernel, clip.strides = w.strides, clip.dilations = w.dilations, clip.pad_begin = w.pad_begin;
    for (int64_t extent : w.kernel) window.push_back(d.context().index(extent));
    for (size_t k = 0; k < spatial; ++k)
      if (may_be_alone(k) && x->dtype.is_float()) ++clip.pad_end[k];
  }

  std::vector<Tap> taps(const Indices& i, const Indices& r) const {
    std::vector<Tap> out;
    for (size_t k = 0; k < spatial; ++k) {
      bool alone = clip.pad_end[k] == 0 && may_be_alone(k);
      out.push_back(alone ? tap_alone(i[k + 2], r[k], k) : tap(i[k + 2], r[k], dims[k + 2], clip, k));
    }
    return out;
  }
  /// Whether there may be just one window that reaches beyond the end of a dim of unknown size.
  bool may_be_alone(size_t axis) const {
    return w.strides[axis] > 1 && !d.attrs().flag("ceil_mode") && open_excess(dims[axis + 2], w, axis) > 0;
  }
  /// Returns the tap where only a single window, at 0, can reach beyond the end. Then `inside` is the same for all
  /// windows and is computed outside of loops over them. Pools of floats do not use it: they are scheduled by rows, for
  /// which `inside` must depend only on the position.
  Tap tap_alone(Expr o, Expr r, size_t axis) const {
    Expr zero = o.context().index(0), offset = r * w.dilations[axis];
    int64_t pad = w.pad_begin[axis];
    Expr last = dims[axis + 2] + (pad - 1);
    Tap t;
    t.position = o * w.strides[axis] + offset - pad;
    // With dilation 1 the clamped position is in the window, and a maximum may read an element twice.
    if (!largest || w.dilations[axis] > 1) t.inside = arith::le(offset, last);
    t.clamped = o * w.strides[axis] + arith::min(offset, last) - pad;
    if (pad > 0) {
      Expr begun = arith::le(zero, t.position);
      t.inside = t.inside ? arith::logical_and(begun, t.inside) : begun;
      t.clamped = arith::max(zero, t.clamped);
    }
    return t;
  }
  /// Returns the element of x in the window, or `outside` where the window is over padding. Subscripts of results are
  /// in the order [N, C, spatial…] here and in taps().
  Expr value(const Indices& i, const Indices& r, Expr outside) const {
    std::vector<Tap> list = taps(i, r);
    Indices at{i[0], i[1]};
    for (const Tap& t : list) at.push_back(t.clamped);
    Expr inside = all_inside(list), loaded = widen(d.builder.load(x, channels_second(d.op, at)));
    return inside ? select(inside, loaded, outside) : loaded;
  }

  DefineContext& d;
  bool largest;  ///< the pool is a maximum, which may read an element twice
  BufferRef x;
  Dims dims;  ///< of x, channels second
  size_t spatial;
  Windows w, clip;
  Dims window;
};

/// Finds positions of maxima by a second reduction over the same windows: the smallest offset whose element equals the
/// maximum or is NaN.
Stmt max_positions(const Pool& pool) {
  DefineContext& d = pool.d;
  tir::Builder& b = d.builder;
  BufferRef y = d.output(0), positions = d.output(1);
  DType i64 = DType::i(64);
  bool column_major = d.attrs().integer("storage_order") == 1;
  auto offset = [&](const Indices& i, const std::vector<Tap>& taps) {
    Expr flat = i[0] * pool.x->shape[1] + i[1], inner = d.context().index(0);
    for (size_t k = 0; k < pool.spatial; ++k) {
      size_t axis = column_major ? pool.spatial - 1 - k : k;
      inner = inner * pool.x->shape[axis + 2] + taps[axis].clamped;
      flat = flat * pool.x->shape[k + 2];
    }
    return cast(i64, flat + inner);
  };
  return b.reduce(positions, pool.window, highest(d.context(), i64),
                  [&](Expr best, const Indices& i, const Indices& r) {
                    std::vector<Tap> taps = pool.taps(i, r);
                    Expr value = pool.value(i, r, lowest(d.context(), wide(y->dtype)));
                    Expr found = arith::eq(cast(y->dtype, value), b.load(y, i));
                    if (value.dtype().is_float())  // a maximum with NaN is NaN, which equals nothing
                      found = arith::logical_or(found, arith::call(arith::Intrinsic::k_isnan, {value}));
                    if (Expr inside = all_inside(taps)) found = arith::logical_and(found, inside);
                    return select(found, arith::min(best, offset(i, taps)), best);
                  });
}

Stmt define_max(DefineContext& d) {
  tir::Builder& b = d.builder;
  Pool pool(d, true);
  BufferRef y = d.output(0);
  Expr floor = lowest(d.context(), y->dtype);
  Stmt maxima = b.reduce(y, pool.window, floor, [&](Expr top, const Indices& i, const Indices& r) {
    const Expr outside = lowest(d.context(), wide(y->dtype));
    return arith::max(top, cast(y->dtype, pool.value(channels_second(d.op, i), r, outside)));
  });
  const bool indices = d.attrs().has("indices") && d.attrs().flag("indices");
  return indices ? b.seq({maxima, max_positions(pool)}) : maxima;
}

/// Returns how many elements of window `i` along one axis are in the dim, or with `padded` in the padded dim.
Expr extent_along(const Pool& pool, Expr o, size_t axis, bool padded) {
  Context& context = pool.d.context();
  const Windows& w = pool.w;
  Expr dim = pool.dims[axis + 2], zero = context.index(0);
  Expr low = padded ? context.index(-w.pad_begin[axis]) : zero, high = padded ? dim + w.pad_end[axis] : dim;
  Expr begin = o * w.strides[axis] - w.pad_begin[axis];
  int64_t dilation = w.dilations[axis];
  Expr first = arith::max(zero, arith::ceildiv(low - begin, dilation));
  Expr last = arith::min(context.index(w.kernel[axis]), arith::ceildiv(high - begin, dilation));
  return arith::max(last - first, context.index(1));
}

Stmt define_avg(DefineContext& d) {
  tir::Builder& b = d.builder;
  Pool pool(d);
  BufferRef y = d.output();
  DType dtype = wide(y->dtype);
  BufferRef sum = b.buffer("window_sum", dtype, y->shape);
  Expr zero = d.context().zero(dtype);
  bool padded = d.attrs().flag("count_include_pad");
  Stmt sums = b.reduce(sum, pool.window, zero, [&](Expr total, const Indices& i, const Indices& r) {
    return total + pool.value(channels_second(d.op, i), r, zero);
  });
  Stmt quotients = b.compute(y, [&](const Indices& own) {
    const Indices i = channels_second(d.op, own);
    Expr count = d.context().index(1);
    for (size_t k = 0; k < pool.spatial; ++k) count = count * extent_along(pool, i[k + 2], k, padded);
    return cast(y->dtype, safe_div(b.load(sum, own), cast(dtype, count)));
  });
  return b.alloc(sum, b.seq({sums, quotients}));
}

Stmt define_lp(DefineContext& d) {
  tir::Builder& b = d.builder;
  Pool pool(d);
  BufferRef y = d.output();
  DType dtype = wide(y->dtype);
  Expr zero = d.context().zero(dtype), p = d.context().number(dtype, static_cast<double>(d.attrs().integer("p")));
  BufferRef sum = b.buffer("window_sum", dtype, y->shape);
  Stmt sums = b.reduce(sum, pool.window, zero, [&](Expr total, const Indices& i, const Indices& r) {
    return total + call(Intrinsic::k_pow, call(Intrinsic::k_abs, pool.value(i, r, zero)), p);
  });
  Stmt roots = b.compute(
      y, [&](const Indices& i) { return cast(y->dtype, call(Intrinsic::k_pow, b.load(sum, i), like(p, 1) / p)); });
  return b.alloc(sum, b.seq({sums, roots}));
}

InferResult infer_lp(InferContext& c) {
  RELAXC_TRY(std::vector<Info> infos, infer(c));
  if (!infos[0]->as<TensorInfo>()->dtype->is_float() || c.op.attrs.integer("p") < 1)
    return c.error(Kind::dtype_mismatch, "'{}' takes a float tensor and p of at least 1", c.op.def->name);
  return infos;
}

constexpr OpDef kOps[] = {
    {.name = "nn.max_pool",
     .operands = kX,
     .attrs = kMax,
     .infer = infer_max,
     .define = define_max,
     .gradient = derivatives::max_pool,
     .doc = "largest value of each window of [N, C, spatial…]; indices: also where it is"},
    {.name = "nn.avg_pool",
     .operands = kX,
     .attrs = kAvg,
     .infer = infer,
     .define = define_avg,
     .gradient = derivatives::avg_pool,
     .doc = "average of each window of [N, C, spatial…]"},
    {.name = "nn.max_pool_by_rows",
     .operands = kX,
     .attrs = kMaxByRows,
     .infer = infer,
     .define = define_max,
     .rows_first = true,
     .doc = "nn.max_pool of [N, H, C, W…]: dims 1 and 2 of data and result are exchanged"},
    {.name = "nn.avg_pool_by_rows",
     .operands = kX,
     .attrs = kAvg,
     .infer = infer,
     .define = define_avg,
     .rows_first = true,
     .doc = "nn.avg_pool of [N, H, C, W…]: dims 1 and 2 of data and result are exchanged"},
    {.name = "nn.lp_pool",
     .operands = kX,
     .attrs = kLp,
     .infer = infer_lp,
     .define = define_lp,
     .gradient = derivatives::lp_pool,
     .doc = "p-norm of each window of [N, C, spatial…]"},
};

}  // namespace
}  // namespace relaxc::ops::pool_family

RELAXC_OPERATORS(pool, kOps)
