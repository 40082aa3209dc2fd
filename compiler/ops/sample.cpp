// sample.cpp: reads images at real positions that are data: a grid of points, or regions.
//
// grid_sample sums over the taps around a point, weighted by a kernel of the distance, as one reduce block; positions
// are computed in float64. NaN positions read the edge: every subscript is clamped to its axis before it is used.
// roi_align averages (or takes the maximum of) bilinear samples on a grid inside of each cell of a region; the grid's
// size may depend on the region, so its loops are opaque.
#include <array>

#include "compiler/ops/common/element.h"
#include "compiler/ops/common/indexing.h"

namespace relaxc::ops::sample_family {
namespace {

constexpr DType kF64 = DType::f(64);
constexpr OperandDef kGridOperands[] = {{"x"}, {"grid"}};
constexpr AttrDef kGridAttrs[] = {{"mode", AttrType::kString, false, "linear"},
                                  {"padding_mode", AttrType::kString, false, "zeros"},
                                  {"align_corners", AttrType::kBool, false, "False"}};
constexpr OperandDef kRoiOperands[] = {{"x"}, {"rois"}, {"batch_indices"}};
constexpr AttrDef kRoiAttrs[] = {{"pooled_size", AttrType::kInts, true},
                                 {"spatial_scale", AttrType::kFloat, false, "1"},
                                 {"sample_ratio", AttrType::kInt, false, "0"},
                                 {"mode", AttrType::kString, false, "avg"},
                                 {"half_pixel", AttrType::kBool, false, "True"}};

relaxc::Status one_of(InferContext& c, std::string_view attr, std::initializer_list<std::string_view> known) {
  const std::string& value = c.op.attrs.string(attr);
  for (std::string_view name : known)
    if (name == value) return Done{};
  return c.error(Kind::invalid_attribute, "{} \"{}\" of '{}' is not known", attr, value, c.op.def->name);
}

InferResult infer_grid(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(const TensorInfo* grid, c.tensor(1));
  RELAXC_DO(one_of(c, "mode", {"nearest", "linear", "cubic"}));
  RELAXC_DO(one_of(c, "padding_mode", {"zeros", "border", "reflection"}));
  RELAXC_DO(expect_dtype(c, 0, is_number, "a number"));
  int32_t spatial = x->ndim - 2;
  if (spatial < 1 || grid->ndim != x->ndim || !grid->dtype->is_float())
    return c.error(Kind::shape_mismatch, "'grid_sample' of {} at {}; the grid must be [batch, spatial…, {}] of floats",
                   to_string(c.op.operand(0)->info), to_string(c.op.operand(1)->info), spatial);
  RELAXC_DO(require_equal(c, grid->shape->back(), c.context.index(spatial), "coordinates"));
  RELAXC_DO(require_equal(c, (*x->shape)[0], (*grid->shape)[0], "batch dims"));
  Expr one_index = c.context.index(1);
  for (size_t k = 2; k < x->shape->size(); ++k)
    RELAXC_DO(c.require(arith::le(one_index, (*x->shape)[k]), kDerivedDim, one_index, (*x->shape)[k],
                        {Finding::kAtLeast, fmt::format("dim {}", k)},
                        fmt::format("'grid_sample' of axis {}, which is empty", k)));
  Dims shape{(*x->shape)[0], (*x->shape)[1]};
  shape.insert(shape.end(), grid->shape->begin() + 1, grid->shape->end() - 1);
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

/// Reflects `at` at low and high until it is between them.
Expr reflected(Expr at, Expr low, Expr high) {
  Expr range = high - low, zero = like(at, 0), two = like(at, 2);
  Expr span = select(arith::lt(zero, range), range, like(at, 1));
  Expr away = call(Intrinsic::k_abs, at - low), turns = call(Intrinsic::k_floor, away / span);
  Expr rest = away - turns * span, half = turns / two;
  Expr even = arith::eq(call(Intrinsic::k_floor, half), half);
  return select(arith::lt(zero, range), select(even, low + rest, high - rest), low);
}

class GridSample {
 public:
  explicit GridSample(DefineContext& d)
      : d_(d),
        b_(d.builder),
        x_(d.input(0)),
        grid_(d.input(1)),
        y_(d.output()),
        spatial_(x_->shape.size() - 2),
        mode_(d.attrs().string("mode")),
        padding_(d.attrs().string("padding_mode")),
        align_(d.attrs().flag("align_corners")) {}

  Stmt run() {
    if (mode_ == "nearest")
      return b_.compute(y_, [&](const Indices& i) {
        Indices at;
        for (size_t k = 0; k < spatial_; ++k) at.push_back(index(call(Intrinsic::k_round, position(i, k))));
        return cast(y_->dtype, value(i, at));
      });
    BufferRef sum = b_.buffer("sum", kF64, y_->shape);
    Dims taps(spatial_, b_.index(mode_ == "cubic" ? 4 : 2));
    Stmt sums = b_.reduce(sum, taps, d_.context().zero(kF64), [&](Expr acc, const Indices& i, const Indices& r) {
      Expr weight = number(1);
      Indices at;
      for (size_t k = 0; k < spatial_; ++k) {
        Expr p = position(i, k),
             tap = call(Intrinsic::k_floor, p) + cast(kF64, r[k]) - number(mode_ == "cubic" ? 1 : 0);
        weight = weight * kernel(call(Intrinsic::k_abs, p - tap));
        at.push_back(index(tap));
      }
      return acc + weight * value(i, at);
    });
    Stmt result = b_.compute(y_, [&](const Indices& i) { return cast(y_->dtype, b_.load(sum, i)); });
    return b_.alloc(sum, b_.seq({sums, result}));
  }

 private:
  Expr number(double value) const { return d_.context().imm_float(kF64, value); }
  static Expr index(Expr real) { return cast(DType::index(), real); }
  Expr extent(size_t k) const { return x_->shape[k + 2]; }

  /// Returns where the grid samples for result element `i` along spatial axis `k`, in elements of x.
  Expr position(const Indices& i, size_t k) const {
    Indices at{i[0]};
    at.insert(at.end(), i.begin() + 2, i.end());
    at.push_back(b_.index(static_cast<int64_t>(spatial_ - 1 - k)));  // the grid lists the innermost axis first
    Expr p = cast(kF64, b_.load(grid_, at)), size = cast(kF64, extent(k)), one = number(1), half = number(0.5);
    p = align_ ? (p + one) * half * (size - one) : ((p + one) * size - one) * half;
    Expr last = size - one;
    if (mode_ == "nearest") p = call(Intrinsic::k_round, p);
    // The points that a cubic kernel reads are cut one by one, as in PyTorch and ONNX Runtime; all of them are beyond
    // the border where the position is two elements away.
    if (padding_ == "border" && mode_ == "cubic") return arith::max(number(-2), arith::min(p, last + number(2)));
    if (padding_ == "border") return arith::max(number(0), arith::min(p, last));
    if (padding_ == "reflection") return reflected(p, align_ ? number(0) : number(-0.5), align_ ? last : last + half);
    return p;
  }

  Expr kernel(Expr t) const {
    Expr one = number(1), two = number(2), a = number(-0.75);
    if (mode_ == "linear") return arith::max(number(0), one - t);
    Expr t2 = t * t, t3 = t2 * t;
    Expr near = (a + two) * t3 - (a + number(3)) * t2 + one;
    Expr far = a * t3 - number(5) * a * t2 + number(8) * a * t - number(4) * a;
    return select(arith::le(t, one), near, select(arith::lt(t, two), far, number(0)));
  }

  /// Returns the element of x at spatial subscripts; the padding mode says what is outside of x.
  Expr value(const Indices& i, const Indices& at) const {
    Indices from{i[0], i[1]};
    Expr inside = d_.context().boolean(true);
    for (size_t k = 0; k < spatial_; ++k) {
      Expr last = extent(k) - 1, p = at[k];
      if (padding_ == "reflection") {
        Expr size = cast(kF64, extent(k)), one = number(1), half = number(0.5);
        p = index(reflected(cast(kF64, p), align_ ? number(0) : number(-0.5), align_ ? size - one : size - half));
      }
      Expr cut = arith::max(b_.index(0), arith::min(p, last));
      if (padding_ == "zeros") inside = arith::logical_and(inside, arith::eq(cut, p));
      from.push_back(cut);
    }
    Expr element = cast(kF64, b_.load(x_, from));
    return padding_ == "zeros" ? select(inside, element, number(0)) : element;
  }

  DefineContext& d_;
  tir::Builder& b_;
  BufferRef x_, grid_, y_;
  size_t spatial_;
  std::string mode_, padding_;
  bool align_;
};

Stmt define_grid(DefineContext& d) {
  return GridSample(d).run();
}

InferResult infer_roi(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(const TensorInfo* rois, c.tensor(1));
  RELAXC_TRY(const TensorInfo* batches, index_tensor(c, 2));
  RELAXC_DO(one_of(c, "mode", {"avg", "max", "max_sample"}));
  const std::vector<int64_t>& size = c.op.attrs.ints("pooled_size");
  if (x->ndim != 4 || rois->ndim != 2 || batches->ndim != 1 || !x->dtype->is_float() || !rois->dtype->is_float())
    return c.error(Kind::shape_mismatch, "'roi_align' of {} in regions {} of images {}",
                   to_string(c.op.operand(0)->info), to_string(c.op.operand(1)->info),
                   to_string(c.op.operand(2)->info));
  if (size.size() != 2 || size[0] < 1 || size[1] < 1 || c.op.attrs.integer("sample_ratio") < 0)
    return c.error(Kind::invalid_attribute, "'roi_align' needs a positive height and width and a sample ratio >= 0");
  RELAXC_DO(require_equal(c, (*rois->shape)[1], c.context.index(4), "coordinates of a region"));
  RELAXC_DO(require_equal(c, (*rois->shape)[0], (*batches->shape)[0], "numbers of regions"));
  for (size_t k = 2; k < 4; ++k) {
    Expr least = c.context.index(1), dim = (*x->shape)[k];
    RELAXC_DO(c.require(arith::le(least, dim), kDerivedDim, least, dim, {Finding::kAtLeast, "a dim of the image"},
                        "'roi_align' of an empty image"));
  }
  return one(tensor_info(c.context,
                         Dims{(*rois->shape)[0], (*x->shape)[1], c.context.index(size[0]), c.context.index(size[1])},
                         *x->dtype));
}

class RoiAlign {
 public:
  explicit RoiAlign(DefineContext& d)
      : d_(d),
        b_(d.builder),
        x_(d.input(0)),
        rois_(d.input(1)),
        batches_(d.input(2)),
        y_(d.output()),
        dtype_(wide(x_->dtype)),
        weighted_(d.attrs().string("mode") == "max"),
        most_(weighted_ || d.attrs().string("mode") == "max_sample") {}

  Stmt run() {
    Stmt regions = b_.loop("region", y_->shape[0], [&](Var region) {
      return with_axis(region, 0, [&](const Axis& rows) {
        return with_axis(region, 1, [&](const Axis& columns) { return cells(region, rows, columns); });
      });
    });
    return b_.seq({check_indices(d_, 2, x_->shape[0]), regions});
  }

 private:
  /// One axis of a region: its begin, the size of a cell, the samples of a cell, and the dim of x.
  struct Axis {
    Expr begin, cell, samples;
    size_t dim;
  };

  Expr number(double value) const { return d_.context().number(dtype_, value); }

  Stmt with_axis(Var region, size_t k, const std::function<Stmt(const Axis&)>& use) {
    auto corner = [&](int64_t at) {
      Expr scaled = cast(dtype_, b_.load(rois_, {region, b_.index(at)})) * number(d_.attrs().number("spatial_scale"));
      return d_.attrs().flag("half_pixel") ? scaled - number(0.5) : scaled;
    };
    int64_t first = k == 0 ? 1 : 0;  // regions are x1, y1, x2, y2
    Expr begin = corner(first), size = corner(first + 2) - begin;
    if (!d_.attrs().flag("half_pixel")) size = arith::max(size, number(1));
    int64_t ratio = d_.attrs().integer("sample_ratio");
    double cells = static_cast<double>(d_.attrs().ints("pooled_size")[k]);
    return b_.let("begin", begin, [&](Var from) {
      return b_.let("cell", size / number(cells), [&](Var cell) {
        Expr samples = b_.index(ratio);
        // The number of samples is clamped, since the size of a region may be NaN or absurdly large.
        if (ratio == 0)
          samples = arith::max(b_.index(0), arith::min(cast(DType::index(), call(Intrinsic::k_ceil, cell)), limit(k)));
        return b_.let("samples", samples, [&](Var count) { return use({from, cell, count, k + 2}); });
      });
    });
  }

  /// Returns the most samples of a cell along axis `k`: more than 64 times the image's extent add nothing.
  Expr limit(size_t k) const { return x_->shape[k + 2] * 64; }

  Stmt cells(Var region, const Axis& rows, const Axis& columns) {
    BufferRef total = b_.buffer("total", dtype_, {b_.index(1)}, tir::Scope::kLocal);
    Expr first = b_.index(0), batch = subscript(b_.load(batches_, {region}), x_->shape[0]);
    Expr start = most_ ? lowest(d_.context(), dtype_) : number(0);
    Expr all = arith::max(rows.samples * columns.samples, b_.index(1));
    return b_.nest({y_->shape[1], y_->shape[2], y_->shape[3]}, [&](const Indices& i) {
      Stmt samples = b_.nest({rows.samples, columns.samples}, [&](const Indices& s) {
        return bilinear({batch, i[0]}, position(rows, i[1], s[0]), position(columns, i[2], s[1]), total);
      });
      Expr sum = b_.load(total, {first});
      Expr result = most_ ? sum : sum / cast(dtype_, all);
      Stmt store = b_.store(y_, {region, i[0], i[1], i[2]}, cast(y_->dtype, result));
      return b_.alloc(total, b_.seq({b_.store(total, {first}, start), samples, store}));
    });
  }

  Expr position(const Axis& axis, Expr cell, Expr sample) const {
    Expr inside = (cast(dtype_, sample) + number(0.5)) * axis.cell / cast(dtype_, axis.samples);
    return axis.begin + cast(dtype_, cell) * axis.cell + inside;
  }

  /// Adds the bilinear sample at a position to `total`; a position more than one element outside of x counts as 0.
  Stmt bilinear(const Indices& plane, Expr y, Expr x, BufferRef total) {
    std::array<Expr, 2> at{y, x}, low, high, part;
    Expr outside = d_.context().boolean(false);
    for (size_t k = 0; k < 2; ++k) {
      Expr size = cast(dtype_, x_->shape[k + 2]), last = x_->shape[k + 2] - 1;
      Expr within = arith::logical_and(arith::le(number(-1), at[k]), arith::le(at[k], size));
      outside = arith::logical_or(outside, arith::logical_not(within));
      Expr p = arith::max(at[k], number(0)), cell = cast(DType::index(), call(Intrinsic::k_floor, p));
      low[k] = arith::max(b_.index(0), arith::min(cell, last));
      high[k] = arith::min(low[k] + 1, last);
      part[k] = select(arith::le(cast(dtype_, last), p), number(0), p - call(Intrinsic::k_floor, p));
    }
    auto corner = [&](bool down, bool right) {
      Expr element = cast(dtype_, b_.load(x_, {plane[0], plane[1], down ? high[0] : low[0], right ? high[1] : low[1]}));
      Expr wy = down ? part[0] : number(1) - part[0], wx = right ? part[1] : number(1) - part[1];
      return wy * wx * element;
    };
    Expr a = corner(false, false), b = corner(false, true), c = corner(true, false), d = corner(true, true);
    Expr first = b_.index(0), old_value = b_.load(total, {first});
    Expr sample = weighted_ ? arith::max(arith::max(a, b), arith::max(c, d)) : a + b + c + d;
    Expr counted = select(outside, number(0), sample);
    return b_.store(total, {first}, most_ ? arith::max(old_value, counted) : old_value + counted);
  }

  DefineContext& d_;
  tir::Builder& b_;
  BufferRef x_, rois_, batches_, y_;
  DType dtype_;
  bool weighted_;  ///< takes the largest weighted element instead of their sum, as ONNX's maximum does
  bool most_;
};

Stmt define_roi(DefineContext& d) {
  return RoiAlign(d).run();
}

constexpr OpDef kOps[] = {
    {.name = "grid_sample",
     .operands = kGridOperands,
     .attrs = kGridAttrs,
     .infer = infer_grid,
     .define = define_grid,
     .doc = "x [N, C, spatial…] read at the points of a grid [N, spatial…, rank], -1 and 1 being its borders"},
    {.name = "roi_align",
     .operands = kRoiOperands,
     .attrs = kRoiAttrs,
     .infer = infer_roi,
     .define = define_roi,
     .doc = "regions (x1, y1, x2, y2) of images x [N, C, H, W], each pooled to a fixed size from bilinear samples"},
};

}  // namespace
}  // namespace relaxc::ops::sample_family

RELAXC_OPERATORS(sample, kOps)
