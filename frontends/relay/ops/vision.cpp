// vision.cpp: non-maximum suppression.
//
// Relay's operator takes [images, boxes, fields]: a field is a class, a score or a corner. By default a box suppresses
// only boxes of its own class. relaxc's operator takes boxes and scores, so corners are shifted by the class times more
// than the range of all corners; then boxes of two classes never overlap.
#include "frontends/relay/sizes.h"

namespace relaxc::relay::vision_family {
namespace {

class Suppression {
 public:
  explicit Suppression(TvmCall& c) : c_(c) {}

  Result<Term> run() {
    RELAXC_DO(read());
    RELAXC_DO(prepare());
    RELAXC_DO(suppress());
    RELAXC_TRY(bool indices, c_.flag("return_indices", true));
    RELAXC_TRY(bool bottom, c_.flag("invalid_to_bottom", false));
    return indices ? box_indices() : bottom ? boxes_first() : boxes_in_order();
  }

 private:
  relax::GraphBuilder& build() { return c_.build(); }
  arith::Expr index(int64_t number) { return c_.context().index(number); }

  Status read() {
    RELAXC_TRY(data_, c_.tensor("data"));
    RELAXC_TRY(score_, c_.integer("score_index", 1));
    RELAXC_TRY(class_, c_.integer("id_index", 0));
    if (data_->shape().size() != 3)
      return c_.error("data", Kind::rank_mismatch, "{} takes [N, boxes, fields], found {}", c_.spelled,
                      relax::to_string(data_->info));
    images_ = data_->shape()[0], boxes_ = data_->shape()[1];
    return Done{};
  }

  /// Returns the fields `from` to `to` of all boxes.
  Result<Value*> fields(int64_t from, int64_t to) {
    Value *begin = build().shape({index(from)}), *end = build().shape({index(to)});
    return c_.op("strided_slice", {data_, begin, end}, {{"axes", Ints{2}}});
  }

  Result<Value*> column(int64_t at) {
    RELAXC_TRY(Value * part, fields(at, at + 1));
    return c_.reshape(part, {images_, boxes_});
  }

  /// Returns 0, 1, … up to `extent` - 1.
  Result<Value*> count_to(arith::Expr extent, DType dtype) {
    return c_.op("range_of", {build().scalar(dtype, 0), build().scalar(dtype, 1), build().shape({extent})});
  }

  /// Computes scores, -1 for boxes that do not count, and corners shifted by class.
  Status prepare() {
    DType real = data_->dtype();
    RELAXC_TRY(Value * counts, c_.tensor("valid_count"));
    RELAXC_TRY(Value * places, count_to(boxes_, counts->dtype()));
    RELAXC_TRY(counts, c_.reshape(counts, {images_, index(1)}));
    RELAXC_TRY(Value * valid, c_.op("less", {places, counts}));
    RELAXC_TRY(Value * scores, column(score_));
    Value* never = build().scalar(real, -1);
    RELAXC_TRY(scores_, c_.op("where", {valid, scores, never}));
    RELAXC_TRY(order_, c_.op("argsort", {scores_}, {{"axis", int64_t{1}}, {"descending", true}}));
    RELAXC_TRY(int64_t most, c_.integer("top_k", -1));
    if (most > 0) {
      RELAXC_TRY(Value * rank, c_.op("argsort", {order_}, {{"axis", int64_t{1}}}));
      RELAXC_TRY(Value * first, c_.op("less", {rank, build().scalar(rank->dtype(), static_cast<double>(most))}));
      RELAXC_TRY(scores_, c_.op("where", {first, scores_, never}));
    }
    RELAXC_TRY(int64_t start, c_.integer("coord_start", 2));
    RELAXC_TRY(corners_, fields(start, start + 4));
    RELAXC_TRY(bool force, c_.flag("force_suppress", false));
    return force || class_ < 0 ? Status(Done{}) : part_classes();
  }

  Status part_classes() {
    relax::Attrs all{{"axis", Ints{0, 1, 2}}};
    RELAXC_TRY(Value * high, c_.op("max", {corners_}, all));
    RELAXC_TRY(Value * low, c_.op("min", {corners_}, all));
    RELAXC_TRY(Value * step, c_.op("subtract", {high, low}));
    RELAXC_TRY(step, c_.op("add", {step, build().scalar(data_->dtype(), 1)}));
    RELAXC_TRY(Value * classes, fields(class_, class_ + 1));
    RELAXC_TRY(classes, c_.op("multiply", {classes, step}));
    RELAXC_TRY(corners_, c_.op("add", {corners_, classes}));
    return Done{};
  }

  /// Computes the kept boxes as pairs of image and box, the best of each image first.
  Status suppress() {
    RELAXC_TRY(Value * limit, c_.tensor("max_output_size"));
    RELAXC_TRY(Value * overlap, c_.tensor("iou_threshold"));
    std::optional<double> number = known_number(limit);
    RELAXC_TRY(limit, c_.reshape(limit, {index(1)}));
    RELAXC_TRY(Value * most, number && *number < 0 ? Result<Value*>(build().shape({boxes_})) : shape_from(c_, limit));
    RELAXC_TRY(overlap, c_.cast(overlap, DType::f(32)));
    RELAXC_TRY(overlap, c_.reshape(overlap, {}));
    RELAXC_TRY(Value * scores, c_.reshape(scores_, {images_, index(1), boxes_}));
    RELAXC_TRY(Value * rows,
               c_.op("non_max_suppression", {corners_, scores, most, overlap, build().scalar(DType::f(32), 0)}));
    kept_ = rows->shape()[0];
    auto part = [&](int64_t at) -> Result<Value*> {
      Value *begin = build().shape({index(at)}), *end = build().shape({index(at + 1)});
      RELAXC_TRY(Value * one, c_.op("strided_slice", {rows, begin, end}, {{"axes", Ints{1}}}));
      return c_.reshape(one, {kept_});
    };
    RELAXC_TRY(image_, part(0));
    RELAXC_TRY(Value * box, part(2));
    RELAXC_TRY(places_, c_.op("stack", {image_, box}, {{"axis", int64_t{-1}}}));
    return Done{};
  }

  /// Returns the `values` of kept boxes at the front of each image's list, with -1 after them.
  Result<Value*> at_front(Value* values, Exprs shape) {
    RELAXC_TRY(Value * images, count_to(images_, DType::i(64)));
    RELAXC_TRY(first_, c_.op("search_sorted", {image_, images}));
    RELAXC_TRY(Value * offset, c_.op("take", {first_, image_}, {{"axis", int64_t{0}}}));
    RELAXC_TRY(Value * number, count_to(kept_, DType::i(64)));
    RELAXC_TRY(offset, c_.cast(offset, DType::i(64)));
    RELAXC_TRY(number, c_.op("subtract", {number, offset}));
    RELAXC_TRY(Value * places, c_.op("stack", {image_, number}, {{"axis", int64_t{-1}}}));
    Value* none = build().scalar(values->dtype(), -1);
    RELAXC_TRY(Value * empty, c_.op("full", {build().shape(std::move(shape)), none}));
    return c_.op("scatter_nd", {empty, places, values});
  }

  Result<Term> box_indices() {
    RELAXC_TRY(Value * indices, c_.tensor("indices"));
    RELAXC_TRY(Value * values, c_.op("gather_nd", {indices, places_}));
    RELAXC_TRY(Value * list, at_front(values, {images_, boxes_}));
    RELAXC_TRY(Value * images, count_to(images_, DType::i(64)));
    RELAXC_TRY(Value * last, c_.op("search_sorted", {image_, images}, {{"right", true}}));
    RELAXC_TRY(Value * counts, c_.op("subtract", {last, first_}));
    RELAXC_TRY(counts, c_.cast(counts, DType::i(32)));
    RELAXC_TRY(counts, c_.reshape(counts, {images_, index(1)}));
    return Term::sequence({Term::of(list), Term::of(counts)});
  }

  Result<Term> boxes_first() {
    RELAXC_TRY(Value * rows, c_.op("gather_nd", {data_, places_}));
    return c_.term(at_front(rows, data_->shape()));
  }

  /// Returns all valid boxes, the best first; suppressed ones have -1 as score and class.
  Result<Term> boxes_in_order() {
    DType real = data_->dtype();
    Exprs list{images_, boxes_, index(1)};
    Value *zero = build().scalar(real, 0), *never = build().scalar(real, -1);
    RELAXC_TRY(Value * kept, c_.op("full", {build().shape({images_, boxes_}), zero}));
    RELAXC_TRY(Value * ones, c_.op("ones", {build().shape({kept_})}, {{"dtype", real}}));
    RELAXC_TRY(kept, c_.op("scatter_nd", {kept, places_, ones}));
    RELAXC_TRY(kept, c_.op("gather_elements", {kept, order_}, {{"axis", int64_t{1}}}));
    RELAXC_TRY(kept, c_.reshape(kept, list));
    RELAXC_TRY(Value * alive, c_.op("gather_elements", {scores_, order_}, {{"axis", int64_t{1}}}));
    RELAXC_TRY(alive, c_.reshape(alive, list));
    RELAXC_TRY(alive, c_.op("greater", {alive, zero}));
    RELAXC_TRY(Value * order, c_.reshape(order_, list));
    RELAXC_TRY(order, c_.op("broadcast_to", {order, build().shape(data_->shape())}));
    RELAXC_TRY(Value * rows, c_.op("gather_elements", {data_, order}, {{"axis", int64_t{1}}}));
    RELAXC_TRY(Value * number, count_to(data_->shape()[2], DType::i(32)));
    RELAXC_TRY(Value * marks, c_.op("equal", {number, build().scalar(DType::i(32), static_cast<double>(score_))}));
    RELAXC_TRY(Value * classes, c_.op("equal", {number, build().scalar(DType::i(32), static_cast<double>(class_))}));
    RELAXC_TRY(marks, c_.op("logical_or", {marks, classes}));
    RELAXC_TRY(Value * lost, c_.op("less", {kept, build().scalar(real, 0.5)}));
    RELAXC_TRY(lost, c_.op("logical_and", {lost, marks}));
    RELAXC_TRY(rows, c_.op("where", {lost, never, rows}));
    return c_.term(c_.op("where", {alive, rows, never}));
  }

  TvmCall& c_;
  Value* data_ = nullptr;
  int64_t score_ = 1, class_ = 0;  ///< indices of these fields
  arith::Expr images_, boxes_, kept_;
  Value *scores_ = nullptr, *order_ = nullptr, *corners_ = nullptr;
  Value *image_ = nullptr, *places_ = nullptr;  ///< of each kept box: its image; image and box
  Value* first_ = nullptr;                      ///< for each image, the number of kept boxes of the images before it
};

Result<Term> suppress(TvmCall& c) {
  return Suppression(c).run();
}

constexpr Row kRows[] = {
    {"vision.non_max_suppression",
     "data, valid_count, indices, max_output_size, iou_threshold, force_suppress, top_k, coord_start, score_index, "
     "id_index, return_indices, invalid_to_bottom",
     {},
     suppress},
};

}  // namespace
}  // namespace relaxc::relay::vision_family

RELAXC_RELAY_OPERATORS(vision, kRows)
