// tvm_vision_ops.cpp: converts TVM's operators on regions and boxes to operators of relaxc.
//
// The comment of each function begins with TVM's form of the call; parameters that it omits have their default.
#include "frontends/relax/tvm/tvm_boxes.h"
#include "frontends/relax/tvm/tvm_layout.h"
#include "frontends/relax/tvm/tvm_names.h"

namespace relaxc::frontend {
namespace {

using namespace tvm_names;

/// vision.roi_align(data, rois, pooled_size, spatial_scale, sample_ratio, aligned, layout, mode),
/// vision.roi_pool(data, rois, pooled_size, spatial_scale, layout): a region is (image, x1, y1, x2, y2).
Result<Term> regions(TvmCall& c) {
  bool align = c.name == "vision.roi_align";
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * rois, c.tensor("rois"));
  RELAXC_TRY(Ints size, c.ints("pooled_size", {1}));
  RELAXC_TRY(double scale, c.real("spatial_scale", 1));
  RELAXC_TRY(Ints axes, layout(c, "layout", "NC", "NCHW"));
  if (size.size() == 1) size.push_back(size[0]);
  if (x->shape().size() != 4 || rois->shape().size() != 2)
    return c.error("rois", Kind::rank_mismatch, "{} takes images and a list of regions, found {} and {}", c.spelled,
                   relax::to_string(x->info), relax::to_string(rois->info));
  relax::GraphBuilder& b = c.build();
  auto columns = [&](int64_t from, int64_t to) {
    Value *begin = b.shape({c.context().index(from)}), *end = b.shape({c.context().index(to)});
    return c.op("strided_slice", {rois, begin, end}, {{"axes", Ints{1}}});
  };
  RELAXC_TRY(Value * images, columns(0, 1));
  RELAXC_TRY(images, c.op("squeeze", {images}, {{"axis", Ints{1}}}));
  RELAXC_TRY(images, c.cast(images, DType::i(64)));
  RELAXC_TRY(Value * corners, columns(1, 5));
  RELAXC_TRY(x, c.permute(x, axes));
  relax::Attrs attrs{{"pooled_size", size}, {"spatial_scale", scale}};
  if (align) {
    RELAXC_TRY(int64_t samples, c.integer("sample_ratio", -1));
    RELAXC_TRY(bool aligned, c.flag("aligned", false));
    RELAXC_TRY(std::string mode, c.text("mode", "avg"));
    attrs.set("sample_ratio", std::max<int64_t>(samples, 0));
    attrs.set("half_pixel", aligned);
    attrs.set("mode", mode == "max" ? std::string("max_sample") : mode);
  }
  RELAXC_TRY(x, c.op(align ? OpName("roi_align") : OpName("roi_max_pool"), {x, corners, images}, std::move(attrs)));
  return c.term(c.permute(x, inverse(axes)));
}

/// Returns which boxes are valid: their score exceeds the threshold, and their class, if any, is not negative.
Result<Value*> valid_boxes(TvmCall& c, Value* boxes) {
  RELAXC_TRY(int64_t score_index, c.integer("score_index", 1));
  RELAXC_TRY(int64_t id_index, c.integer("id_index", 0));
  Value* threshold = c.build().scalar(boxes->dtype(), 0);
  if (c.has("score_threshold")) {
    RELAXC_TRY(threshold, c.element("score_threshold", boxes->dtype()));
  }
  RELAXC_TRY(Value * scores, column_of(c, boxes, score_index));
  RELAXC_TRY(Value * valid, c.op("greater", {scores, threshold}));
  if (id_index < 0) return valid;
  RELAXC_TRY(Value * classes, column_of(c, boxes, id_index));
  RELAXC_TRY(Value * known, c.op("greater_equal", {classes, c.build().scalar(boxes->dtype(), 0)}));
  return c.op("logical_and", {valid, known});
}

/// vision.get_valid_counts(data, score_threshold, id_index, score_index): how many boxes count, these in their order
/// and -1 behind them, and where they were.
Result<Term> valid_counts(TvmCall& c) {
  RELAXC_TRY(Value * boxes, lists_of_boxes(c));
  RELAXC_TRY(Value * valid, valid_boxes(c, boxes));
  RELAXC_TRY(Moved found, move_first(c, valid));
  RELAXC_TRY(Value * moved, reordered(c, boxes, found.order, found.kept));
  RELAXC_TRY(Value * order, c.cast(found.order, DType::i(32)));
  RELAXC_TRY(order, c.op("where", {found.kept, order, c.build().scalar(DType::i(32), -1)}));
  return Term::sequence({Term::of(found.counts), Term::of(moved), Term::of(order)});
}

/// Returns the middle and the extent of anchors [1, N, 4], (left, top, right, bottom), along an axis.
Result<std::pair<Value*, Value*>> anchor_along(TvmCall& c, Value* anchors, int64_t axis) {
  RELAXC_TRY(Value * low, column_of(c, anchors, axis));
  RELAXC_TRY(Value * high, column_of(c, anchors, axis + 2));
  RELAXC_TRY(Value * middle, c.op("add", {low, high}));
  RELAXC_TRY(middle, c.op("multiply", {middle, c.build().scalar(anchors->dtype(), 0.5)}));
  RELAXC_TRY(Value * extent, c.op("subtract", {high, low}));
  return std::pair{middle, extent};
}

/// Returns the two ends of the boxes that offsets [B, N, 4], (x, y, w, h), give along an axis.
Result<std::pair<Value*, Value*>> box_along(TvmCall& c, Value* offsets, Value* anchors, int64_t axis,
                                            const std::vector<double>& variances) {
  relax::GraphBuilder& b = c.build();
  const DType dtype = offsets->dtype();
  RELAXC_TRY(auto anchor, anchor_along(c, anchors, axis));
  auto scaled = [&](int64_t at) -> Result<Value*> {
    RELAXC_TRY(Value * part, column_of(c, offsets, at));
    return c.op("multiply", {part, b.scalar(dtype, variances[static_cast<size_t>(at)])});
  };
  RELAXC_TRY(Value * center, scaled(axis));
  RELAXC_TRY(center, c.op("multiply", {center, anchor.second}));
  RELAXC_TRY(center, c.op("add", {center, anchor.first}));
  RELAXC_TRY(Value * half, scaled(axis + 2));
  RELAXC_TRY(half, c.op("exp", {half}));
  RELAXC_TRY(half, c.op("multiply", {half, b.scalar(dtype, 0.5)}));
  RELAXC_TRY(half, c.op("multiply", {half, anchor.second}));
  RELAXC_TRY(Value * low, c.op("subtract", {center, half}));
  RELAXC_TRY(Value * high, c.op("add", {center, half}));
  return std::pair{low, high};
}

/// The scores of multibox_transform_loc, [B, classes, N]: 0 below the threshold, and for the background if asked.
Result<Value*> multibox_scores(TvmCall& c) {
  relax::GraphBuilder& b = c.build();
  RELAXC_TRY(Value * scores, c.tensor("cls_pred"));
  RELAXC_TRY(bool softmax, c.flag("apply_softmax", true));
  RELAXC_TRY(double threshold, c.real("threshold", 0));
  RELAXC_TRY(bool background, c.flag("keep_background", true));
  if (softmax) {
    RELAXC_TRY(scores, c.op("nn.softmax", {scores}, {{"axis", int64_t{1}}}));
  }
  RELAXC_TRY(Value * above, c.op("greater_equal", {scores, b.scalar(scores->dtype(), threshold)}));
  RELAXC_TRY(above, c.cast(above, scores->dtype()));
  RELAXC_TRY(scores, c.op("multiply", {scores, above}));
  if (background) return scores;
  Value *zero = b.scalar(DType::i(64), 0), *one = b.scalar(DType::i(64), 1);
  Exprs classes{scores->shape()[1]};
  RELAXC_TRY(Value * numbers, c.op("range_of", {zero, one, b.shape(classes)}));
  RELAXC_TRY(Value * others, c.op("not_equal", {numbers, zero}));
  RELAXC_TRY(others, c.reshape(others, {classes[0], c.context().index(1)}));
  return c.op("where", {others, scores, b.scalar(scores->dtype(), 0)});
}

/// vision.multibox_transform_loc(cls_pred, loc_pred, anchor, clip, threshold, variances, keep_background,
/// apply_softmax): boxes [B, N, 4] as (top, left, bottom, right) and scores [B, classes, N].
Result<Term> multibox(TvmCall& c) {
  RELAXC_TRY(Value * classes, c.tensor("cls_pred"));
  RELAXC_TRY(Value * offsets, c.tensor("loc_pred"));
  RELAXC_TRY(Value * anchors, c.tensor("anchor"));
  RELAXC_TRY(std::vector<double> variances, c.reals("variances", {1, 1, 1, 1}));
  RELAXC_TRY(bool clips, c.flag("clip", false));
  if (classes->shape().size() != 3 || offsets->shape().size() != 2 || anchors->shape().size() != 3 ||
      variances.size() != 4)
    return c.error("cls_pred", Kind::rank_mismatch,
                   "{} takes [B, classes, N], [B, 4 * N], [1, N, 4] and 4 variances, found {}, {}, {} and {}",
                   c.spelled, relax::to_string(classes->info), relax::to_string(offsets->info),
                   relax::to_string(anchors->info), variances.size());
  Exprs dims{classes->shape()[0], classes->shape()[2], c.context().index(4)};
  RELAXC_TRY(offsets, c.reshape(offsets, dims));
  RELAXC_TRY(auto x, box_along(c, offsets, anchors, 0, variances));
  RELAXC_TRY(auto y, box_along(c, offsets, anchors, 1, variances));
  RELAXC_TRY(Value * boxes, c.op("stack", {y.first, x.first, y.second, x.second}, {{"axis", int64_t{-1}}}));
  if (clips) {
    relax::GraphBuilder& b = c.build();
    RELAXC_TRY(boxes, c.op("minimum", {boxes, b.scalar(boxes->dtype(), 1)}));
    RELAXC_TRY(boxes, c.op("maximum", {boxes, b.scalar(boxes->dtype(), 0)}));
  }
  RELAXC_TRY(Value * scores, multibox_scores(c));
  return Term::sequence({Term::of(boxes), Term::of(scores)});
}

constexpr TvmOperator kVisionRows[] = {
    {"vision.get_valid_counts", "data, score_threshold, id_index, score_index", valid_counts},
    {"vision.non_max_suppression",
     "data, valid_count, indices, max_output_size, iou_threshold, force_suppress, top_k, coord_start, score_index, "
     "id_index, return_indices, invalid_to_bottom, soft_nms_sigma, score_threshold",
     greedy_suppression},
    {"vision.multibox_transform_loc",
     "cls_pred, loc_pred, anchor, clip, threshold, variances, keep_background, apply_softmax", multibox},
    {"vision.roi_align", "data, rois, pooled_size, spatial_scale, sample_ratio, aligned, layout, mode", regions},
    {"vision.roi_pool", "data, rois, pooled_size, spatial_scale, layout", regions},
};

}  // namespace

std::span<const TvmOperator> tvm_vision_operators() {
  return kVisionRows;
}

}  // namespace relaxc::frontend
