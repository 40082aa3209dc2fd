// suppression.cpp: non-maximum suppression: of boxes that overlap, the one with the highest score stays.
//
// For each image and class the boxes are taken in order of their scores, equal ones in order of position (a stable
// sort); a box stays unless its score is too low, or it covers one that stayed by more than the threshold. What stays
// is a row (image, class, box), so rows are written one after another and nobody counts first. A NaN score is above no
// threshold. Boxes without an area overlap with nothing. The bound is `most` boxes for each image and class, or all.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"
#include "compiler/ops/common/sort.h"

namespace relaxc::ops {
namespace {

constexpr OperandDef kOperands[] = {{"boxes"},
                                    {"scores"},
                                    {"most", OperandDef::kOptional},
                                    {"iou_threshold", OperandDef::kOptional},
                                    {"score_threshold", OperandDef::kOptional}};
constexpr AttrDef kAttrs[] = {{"center_point_box", AttrType::kBool, false, "False"}};
constexpr DType kI64 = DType::i(64);

relaxc::Status check_threshold(InferContext& c, size_t operand) {
  if (!c.has(operand)) return Done{};
  RELAXC_TRY(const TensorInfo* threshold, c.tensor(operand));
  if (threshold->ndim == 0 && threshold->dtype->is_float()) return Done{};
  return c.error(Kind::shape_mismatch, "'{}' takes a threshold that is a scalar float, found {}", c.op.def->name,
                 to_string(c.op.operand(operand)->info));
}

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* boxes, c.tensor(0));
  RELAXC_TRY(const TensorInfo* scores, c.tensor(1));
  if (boxes->ndim != 3 || scores->ndim != 3 || !boxes->dtype->is_float() || boxes->dtype != scores->dtype)
    return c.error(Kind::shape_mismatch,
                   "'{}' takes boxes [images, boxes, 4] and scores [images, classes, boxes] of one float dtype, found "
                   "{} and {}",
                   c.op.def->name, to_string(c.op.operand(0)->info), to_string(c.op.operand(1)->info));
  const Dims &box = *boxes->shape, &score = *scores->shape;
  RELAXC_DO(require_equal(c, box[0], score[0], "the numbers of images"));
  RELAXC_DO(require_equal(c, box[1], score[2], "the numbers of boxes"));
  RELAXC_DO(require_equal(c, box[2], c.context.index(4), "the extent of a box"));
  if (c.has(2)) {
    RELAXC_TRY(Dims most, c.shape_value(2));
    if (most.size() != 1)
      return c.error(Kind::invalid_value, "'{}' takes one number as the most boxes, found {}", c.op.def->name,
                     most.size());
  }
  RELAXC_DO(check_threshold(c, 3));
  RELAXC_DO(check_threshold(c, 4));
  Var count = c.bound_symbol(0, "selected");
  return one(tensor_info(c.context, Dims{count, c.context.index(3)}, kI64));
}

/// Boxes that may stay for one image and class.
Expr most_of_class(const Dims& scores, const Dims* most) {
  if (most == nullptr) return scores[2];
  return arith::min(scores[2], arith::max(scores[2].context().index(0), (*most)[0]));
}

Expr upper_bound(const Op& op, size_t) {
  const Dims& scores = op.operand(1)->shape();
  const Value* most = op.operand(2);
  const auto* given = most == nullptr ? nullptr : most->info->as<relax::ShapeInfo>();
  return scores[0] * scores[1] * most_of_class(scores, given == nullptr ? nullptr : &*given->dims);
}

class Suppression {
 public:
  explicit Suppression(DefineContext& d)
      : d_(d), b_(d.builder), boxes_(d.input(0)), scores_(d.input(1)), rows_(d.output()), total_(d.bound_value(0)) {
    most_ = d.has(2) ? most_of_class(scores_->shape, &d.shape_value(2)) : scores_->shape[2];
    covered_ = b_.buffer("covered", kI64, {b_.index(1)}, tir::Scope::kLocal);
  }

  Stmt run() {
    Stmt classes = b_.nest({scores_->shape[0], scores_->shape[1]}, [&](const Indices& at) {
      Before before = [&](Expr p, Expr q) { return ordered(score(at, p), score(at, q), true); };
      return with_sorted(b_, scores_->shape[2], before, [&](BufferRef order) {
        return b_.let("first", get(total_), [&](Var first) {
          return b_.loop("rank", scores_->shape[2], [&](Var rank) {
            Expr box = cast(DType::index(), b_.load(order, {rank}));
            return b_.seq({b_.branch(arith::le(most_, get(total_) - first), b_.leave_loop()),
                           b_.let("box", box, [&](Var p) { return consider(at, p, first); })});
          });
        });
      });
    });
    return b_.seq({set(total_, b_.index(0)), b_.alloc(covered_, classes)});
  }

 private:
  Expr score(const Indices& at, Expr box) { return b_.load(scores_, {at[0], at[1], box}); }
  Expr get(BufferRef of) { return cast(DType::index(), b_.load(of, {b_.index(0)})); }
  Stmt set(BufferRef of, Expr value) { return b_.store(of, {b_.index(0)}, cast(kI64, value)); }

  /// The box stays if its score is high enough and it covers none of the rows from `first` on.
  Stmt consider(const Indices& at, Expr box, Expr first) {
    Stmt compare = b_.loop("row", get(total_) - first, [&](Var row) {
      Expr kept = cast(DType::index(), b_.load(rows_, {first + row, b_.index(2)}));
      return overlap(at[0], box, kept);
    });
    Indices row{get(total_), b_.index(0)};
    std::vector<Stmt> keep;
    for (Expr value : {at[0], at[1], box}) {
      keep.push_back(b_.store(rows_, row, cast(kI64, value)));
      row[1] = row[1] + 1;
    }
    keep.push_back(set(total_, get(total_) + 1));
    Stmt all = b_.seq({set(covered_, b_.index(0)), compare,
                       b_.branch(arith::eq(get(covered_), b_.index(0)), b_.seq(std::move(keep)))});
    if (!d_.has(4)) return all;
    Expr lowest = b_.load(d_.input(4), {}), found = score(at, box);
    return b_.branch(arith::lt(cast(DType::f(64), lowest), cast(DType::f(64), found)), all);
  }

  /// The ends of a box along x or y.
  std::pair<Expr, Expr> ends(Expr image, Expr box, int64_t side) {
    Expr a = widen(b_.load(boxes_, {image, box, b_.index(side)}));
    Expr c = widen(b_.load(boxes_, {image, box, b_.index(side + 2)}));
    if (!d_.attrs().flag("center_point_box")) return {arith::min(a, c), arith::max(a, c)};
    Expr half = c / like(c, 2);
    return {a - half, a + half};
  }

  /// Says in `covered` whether two boxes share more than the threshold of what they cover together.
  Stmt overlap(Expr image, Expr p, Expr q) {
    std::vector<Expr> shared;
    Expr area_p, area_q;
    for (int64_t side : {0, 1}) {
      auto [low_p, high_p] = ends(image, p, side);
      auto [low_q, high_q] = ends(image, q, side);
      shared.push_back(arith::min(high_p, high_q) - arith::max(low_p, low_q));
      area_p = area_p ? area_p * (high_p - low_p) : high_p - low_p;
      area_q = area_q ? area_q * (high_q - low_q) : high_q - low_q;
    }
    Expr zero = like(shared[0], 0), both = shared[0] * shared[1], joint = area_p + area_q - both;
    Expr threshold = d_.has(3) ? cast(zero.dtype(), b_.load(d_.input(3), {})) : zero;
    Stmt covers = b_.seq({set(covered_, b_.index(1)), b_.leave_loop()});
    Stmt compare = b_.branch(arith::lt(threshold, both / joint), covers);
    for (Expr positive : {joint, area_q, area_p, shared[1], shared[0]})
      compare = b_.branch(arith::lt(zero, positive), compare);
    return compare;
  }

  DefineContext& d_;
  tir::Builder& b_;
  BufferRef boxes_, scores_, rows_, total_, covered_;
  Expr most_;
};

Stmt define(DefineContext& d) {
  return Suppression(d).run();
}

constexpr OpDef kOps[] = {
    {.name = "non_max_suppression",
     .operands = kOperands,
     .attrs = kAttrs,
     .infer = infer,
     .define = define,
     .upper_bound = upper_bound,
     .doc =
         "rows (image, class, box) of the boxes that stay, at most `most` (a shape value of one number) of each class, "
         "best first; boxes are [images, boxes, 4] as two corners or as center and size, scores [images, classes, "
         "boxes]"},
};

}  // namespace
}  // namespace relaxc::ops

RELAXC_OPERATORS(suppression, kOps)
