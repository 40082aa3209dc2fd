// suppression.cpp: non-maximum suppression: of overlapping boxes, the one with the highest score is kept.
//
// For each image and class the boxes with a high enough score are taken in order of their scores, equal ones in order
// of position (a stable sort); a box is kept unless it overlaps a kept one by more than the threshold. A kept box is a
// row (image, class, box), so rows are written one after the other without counting first. A NaN score is above no
// threshold. Boxes without an area overlap nothing. The upper bound of the result is `most` boxes for each image and
// class, or all boxes.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"
#include "compiler/ops/common/sort_key.h"
#include "compiler/ops/common/sorted_keys.h"

namespace relaxc::ops::suppression_family {
namespace {

constexpr OperandDef kOperands[] = {{"boxes"},
                                    {"scores"},
                                    {"most", OperandDef::kOptional},
                                    {"iou_threshold", OperandDef::kOptional},
                                    {"score_threshold", OperandDef::kOptional}};
constexpr AttrDef kAttrs[] = {{"center_point_box", AttrType::kBool, false, "False"}};
constexpr DType kI64 = DType::i(64);
constexpr int64_t kBlockOfBoxes = 64;
constexpr int64_t kSides = 5;  ///< numbers by which boxes are compared: two ends along each axis, and the area

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
      return c.error(Kind::invalid_value, "'{}' takes one number as the maximum number of boxes, found {}",
                     c.op.def->name, most.size());
  }
  RELAXC_DO(check_threshold(c, 3));
  RELAXC_DO(check_threshold(c, 4));
  Var count = c.bound_symbol(0, "selected");
  return one(tensor_info(c.context, Dims{count, c.context.index(3)}, kI64));
}

/// Returns the most boxes that can be selected for one image and class.
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
    kept_ = b_.buffer("kept", wide(boxes_->dtype), {b_.index(kSides), most_});
    candidates_ = b_.buffer("candidates", kI64, {b_.index(1)}, tir::Scope::kLocal);
  }

  Stmt run() {
    Expr given = d_.has(3) ? cast(kept_->dtype, b_.load(d_.input(3), {})) : b_.context().zero(kept_->dtype);
    return b_.let("threshold", given, [&](Var threshold) {
      threshold_ = threshold;
      return b_.alloc(kept_, all_classes());
    });
  }

 private:
  Stmt all_classes() {
    Stmt classes = b_.nest({scores_->shape[0], scores_->shape[1]}, [&](const Indices& at) {
      const SortedKeys order(b_, sort_key_dtype(scores_->dtype), scores_->shape[2] + 1);
      Stmt keep = b_.let("first", get(total_), [&](Var first) {
        return b_.loop("rank", get(candidates_), [&](Var rank) {
          return b_.seq({b_.branch(arith::le(most_, get(total_) - first), b_.leave_loop()),
                         b_.let("box", order.position(rank), [&](Var p) { return consider(at, p, first); })});
        });
      });
      return order.with(b_.seq({find_candidates(at, order), order.sort(get(candidates_)), keep}));
    });
    return b_.seq({set(total_, b_.index(0)), b_.alloc(candidates_, b_.alloc(covered_, classes))});
  }

  Expr score(const Indices& at, Expr box) { return b_.load(scores_, {at[0], at[1], box}); }
  Expr get(BufferRef of) { return cast(DType::index(), b_.load(of, {b_.index(0)})); }
  Stmt set(BufferRef of, Expr value) { return b_.store(of, {b_.index(0)}, cast(kI64, value)); }

  /// Adds the condition to `covered` without a branch, so that the loop can be vectorized.
  Stmt count(Expr condition) {
    Expr so_far = b_.load(covered_, {b_.index(0)});
    return b_.store(covered_, {b_.index(0)}, so_far + cast(kI64, condition));
  }

  static Expr is_above(Expr score, Expr lowest) {
    if (score.dtype() == lowest.dtype()) return arith::lt(lowest, score);
    return arith::lt(cast(DType::f(64), lowest), cast(DType::f(64), score));
  }

  /// Finds the boxes whose scores are above the threshold, in the order of positions. Each box is written to the next
  /// place, which advances only if it is taken. Blocks without such boxes are skipped, since usually few boxes are.
  Stmt find_candidates(const Indices& at, const SortedKeys& order) {
    auto put = [&](Expr p) {
      return b_.let("score", score(at, p), [&](Var found) {
        Expr taken = d_.has(4) ? is_above(found, b_.load(d_.input(4), {})) : b_.context().boolean(true);
        return b_.seq({order.put(get(candidates_), sort_key(found, true), p),
                       set(candidates_, get(candidates_) + cast(DType::index(), cast(kI64, taken)))});
      });
    };
    auto each_of = [&](Var block) {
      Expr begin = block * kBlockOfBoxes;
      Expr extent = arith::min(b_.index(kBlockOfBoxes), scores_->shape[2] - begin);
      Stmt look = b_.loop("p", extent, [&](Var p) {
        Expr above = is_above(score(at, begin + p), b_.load(d_.input(4), {}));
        return count(above);
      });
      Stmt all = b_.loop("p", extent, [&](Var p) { return put(begin + p); });
      return b_.seq({set(covered_, b_.index(0)), look, b_.branch(arith::ne(get(covered_), b_.index(0)), all)});
    };
    Stmt each = d_.has(4) ? b_.loop("block", arith::ceildiv(scores_->shape[2], kBlockOfBoxes), each_of)
                          : b_.loop("p", scores_->shape[2], put);
    return b_.seq({set(candidates_, b_.index(0)), order.begin(), each});
  }

  /// Keeps the box unless it overlaps one that is kept already. Comparisons have no branch, so they can be vectorized.
  Stmt consider(const Indices& at, Expr box, Expr first) {
    return with_values(area_of(ends(at[0], box, 0), ends(at[0], box, 1)), {}, [&](const std::vector<Expr>& own) {
      Stmt compare = b_.loop("row", get(total_) - first, [&](Var row) {
        std::vector<Expr> other;
        for (int64_t k = 0; k < kSides; ++k) other.push_back(b_.load(kept_, {b_.index(k), row}));
        return count(covers(own, other));
      });
      Stmt keep = b_.branch(arith::eq(get(covered_), b_.index(0)), keep_box(at, box, own, get(total_) - first));
      return b_.seq({set(covered_, b_.index(0)), compare, keep});
    });
  }

  /// Appends a row to the result, and stores the box for comparison with later ones.
  Stmt keep_box(const Indices& at, Expr box, const std::vector<Expr>& own, Expr place) {
    std::vector<Stmt> keep;
    for (int64_t k = 0; k < kSides; ++k)
      keep.push_back(b_.store(kept_, {b_.index(k), place}, own[static_cast<size_t>(k)]));
    Indices row{get(total_), b_.index(0)};
    for (Expr value : {at[0], at[1], box}) {
      keep.push_back(b_.store(rows_, row, cast(kI64, value)));
      row[1] = row[1] + 1;
    }
    keep.push_back(set(total_, get(total_) + 1));
    return b_.seq(std::move(keep));
  }

  /// Returns the lower and the upper end of a box along its first axis (`side` 0) or its second one (1).
  std::pair<Expr, Expr> ends(Expr image, Expr box, int64_t side) {
    Expr a = widen(b_.load(boxes_, {image, box, b_.index(side)}));
    Expr c = widen(b_.load(boxes_, {image, box, b_.index(side + 2)}));
    if (!d_.attrs().flag("center_point_box")) return {arith::min(a, c), arith::max(a, c)};
    Expr half = c / like(c, 2);
    return {a - half, a + half};
  }

  /// Returns the two ends of a box along each axis, and its area.
  static std::vector<Expr> area_of(const std::pair<Expr, Expr>& x, const std::pair<Expr, Expr>& y) {
    return {x.first, x.second, y.first, y.second, (x.second - x.first) * (y.second - y.first)};
  }

  /// Binds the values to variables, so that each is computed once, and passes these to `body`.
  Stmt with_values(const std::vector<Expr>& values, std::vector<Expr> known,
                   const std::function<Stmt(const std::vector<Expr>&)>& body) {
    if (known.size() == values.size()) return body(known);
    return b_.let("side", values[known.size()], [&](Var value) {
      known.push_back(value);
      return with_values(values, known, body);
    });
  }

  /// Whether the intersection of two boxes, divided by their union, exceeds the threshold.
  Expr covers(const std::vector<Expr>& p, const std::vector<Expr>& q) {
    Expr width = arith::min(p[1], q[1]) - arith::max(p[0], q[0]),
         height = arith::min(p[3], q[3]) - arith::max(p[2], q[2]);
    Expr zero = like(width, 0), both = width * height, joint = p[4] + q[4] - both;
    Expr result = arith::lt(threshold_, both / joint);
    for (Expr positive : {joint, q[4], p[4], height, width})
      result = arith::logical_and(arith::lt(zero, positive), result);
    return result;
  }

  DefineContext& d_;
  tir::Builder& b_;
  BufferRef boxes_, scores_, rows_, total_, covered_, candidates_, kept_;
  Expr most_, threshold_;
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
     .doc = "rows (image, class, box) of the boxes that are kept, at most `most` (a shape value of one number) of each "
            "class, "
            "best first; boxes are [images, boxes, 4] as two corners or as center and size, scores [images, classes, "
            "boxes]"},
};

}  // namespace
}  // namespace relaxc::ops::suppression_family

RELAXC_OPERATORS(suppression, kOps)
