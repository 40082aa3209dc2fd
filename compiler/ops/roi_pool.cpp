// roi_pool.cpp: the largest element in each cell of regions that are read from data, as Fast R-CNN defines it.
//
// Corners are scaled and rounded to elements, halves away from zero, and both belong to the region, so that none is
// empty. Cells overlap if they do not divide the region. Elements outside of the image do not count; a cell completely
// outside is 0. The number of elements in a cell depends on data, so its loops are opaque.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/indexing.h"

namespace relaxc::ops::roi_pool_family {
namespace {

constexpr OperandDef kOperands[] = {{"x"}, {"rois"}, {"batch_indices"}};
constexpr AttrDef kAttrs[] = {{"pooled_size", AttrType::kInts, true}, {"spatial_scale", AttrType::kFloat, false, "1"}};

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(const TensorInfo* rois, c.tensor(1));
  RELAXC_TRY(const TensorInfo* batches, index_tensor(c, 2));
  if (x->ndim != 4 || rois->ndim != 2 || batches->ndim != 1 || !x->dtype->is_float() || !rois->dtype->is_float())
    return c.error(Kind::shape_mismatch, "'roi_max_pool' of {} in regions {} of images {}",
                   to_string(c.op.operand(0)->info), to_string(c.op.operand(1)->info),
                   to_string(c.op.operand(2)->info));
  const std::vector<int64_t>& size = c.op.attrs.ints("pooled_size");
  if (size.size() != 2 || size[0] < 1 || size[1] < 1)
    return c.error(Kind::invalid_attribute, "'roi_max_pool' needs a positive height and width");
  RELAXC_DO(require_equal(c, (*rois->shape)[1], c.context.index(4), "coordinates of a region"));
  RELAXC_DO(require_equal(c, (*rois->shape)[0], (*batches->shape)[0], "numbers of regions"));
  Dims shape{(*rois->shape)[0], (*x->shape)[1], c.context.index(size[0]), c.context.index(size[1])};
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

class RoiMaxPool {
 public:
  explicit RoiMaxPool(DefineContext& d)
      : d_(d), b_(d.builder), x_(d.input(0)), rois_(d.input(1)), y_(d.output()), dtype_(wide(rois_->dtype)) {}

  Stmt run() {
    Stmt cells = b_.nest(y_->shape, [&](const Indices& i) {
      return with_range(i, 0, [&](Expr top, Expr rows) {
        return with_range(i, 1, [&](Expr left, Expr columns) { return cell(i, top, rows, left, columns); });
      });
    });
    return b_.seq({check_indices(d_, 2, x_->shape[0]), cells});
  }

 private:
  Expr number(double value) const { return d_.context().number(dtype_, value); }
  static Expr whole(Expr real) { return cast(DType::index(), real); }

  /// Returns a corner of a region in elements, clamped to +-1e9 so that sums of corners do not overflow.
  Expr corner(Expr region, int64_t at) const {
    Expr p = cast(dtype_, b_.load(rois_, {region, b_.index(at)})) * number(d_.attrs().number("spatial_scale"));
    Expr half = number(0.5), up = call(Intrinsic::k_floor, p + half), down = call(Intrinsic::k_ceil, p - half);
    Expr rounded = select(arith::lt(p, number(0)), down, up);
    return whole(arith::max(number(-1e9), arith::min(rounded, number(1e9))));
  }

  /// Binds where cell i[2 + k] begins along spatial axis `k`, and how many elements of the image it has there.
  Stmt with_range(const Indices& i, size_t k, const std::function<Stmt(Expr, Expr)>& use) {
    int64_t first = k == 0 ? 1 : 0;  // regions are x1, y1, x2, y2
    Expr cells = y_->shape[k + 2], cell = i[k + 2], extent = x_->shape[k + 2];
    return b_.let("corner", corner(i[0], first), [&](Var start) {
      return b_.let("size", arith::max(corner(i[0], first + 2) - start + 1, b_.index(1)), [&](Var size) {
        auto cut = [&](Expr at) { return arith::max(b_.index(0), arith::min(at + start, extent)); };
        Expr low = cut(arith::floordiv(cell * size, cells)), high = cut(arith::ceildiv((cell + 1) * size, cells));
        return b_.let("begin", low, [&](Var begin) {
          return b_.let("count", arith::max(high - begin, b_.index(0)), [&](Var count) { return use(begin, count); });
        });
      });
    });
  }

  Stmt cell(const Indices& i, Expr top, Expr rows, Expr left, Expr columns) {
    BufferRef most = b_.buffer("most", x_->dtype, {b_.index(1)}, tir::Scope::kLocal);
    Expr first = b_.index(0), batch = subscript(b_.load(d_.input(2), {i[0]}), x_->shape[0]);
    Stmt elements = b_.nest({rows, columns}, [&](const Indices& s) {
      Expr element = b_.load(x_, {batch, i[1], top + s[0], left + s[1]});
      return b_.store(most, {first}, arith::max(b_.load(most, {first}), element));
    });
    Expr some = arith::lt(b_.index(0), rows * columns), zero = d_.context().zero(x_->dtype);
    Stmt start = b_.store(most, {first}, lowest(d_.context(), x_->dtype));
    Stmt store = b_.store(y_, i, select(some, b_.load(most, {first}), zero));
    return b_.alloc(most, b_.seq({start, elements, store}));
  }

  DefineContext& d_;
  tir::Builder& b_;
  BufferRef x_, rois_, y_;
  DType dtype_;
};

Stmt define(DefineContext& d) {
  return RoiMaxPool(d).run();
}

constexpr OpDef kOps[] = {
    {.name = "roi_max_pool",
     .operands = kOperands,
     .attrs = kAttrs,
     .infer = infer,
     .define = define,
     .doc = "regions (x1, y1, x2, y2) of images x [N, C, H, W], each pooled to a fixed size by the largest elements"},
};

}  // namespace
}  // namespace relaxc::ops::roi_pool_family

RELAXC_OPERATORS(roi_pool, kOps)
