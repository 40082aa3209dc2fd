// tvm_suppression.cpp: TVM's non-maximum suppression of boxes that carry a class and a score, as a loop of operators.
//
// Boxes are in order of their scores, and the first ones of an image take part. A step takes one box of each image: the
// next one, or with a sigma the best that is left. If its score is above the threshold it is kept, and others of its
// class that overlap it enough are removed. With a sigma, an overlap that is too small for that lowers the score of the
// other one instead (Bodla et al. 2017). What is carried is the scores, with minus infinity for boxes that are no
// longer there, so a step is operators on all boxes of all images. Of equal scores, the one that came first is the
// best; after scores were lowered TVM may take another of them.
//
// non_max_suppression of relaxc is ONNX's: its scores are a tensor of their own, for each class.
#include <limits>

#include "frontends/relax/tvm/tvm_boxes.h"
#include "frontends/relax/tvm/tvm_names.h"

namespace relaxc::frontend {

using namespace tvm_names;

Result<Value*> column_of(TvmCall& c, Value* boxes, int64_t at) {
  relax::GraphBuilder& b = c.build();
  Value *begin = b.shape({c.context().index(at)}), *end = b.shape({c.context().index(at + 1)});
  RELAXC_TRY(Value * part, c.op("strided_slice", {boxes, begin, end}, {{"axes", Ints{2}}}));
  return c.op("squeeze", {part}, {{"axis", Ints{2}}});
}

Result<Value*> first_of(TvmCall& c, Value* counts, arith::Expr size) {
  relax::GraphBuilder& b = c.build();
  Value *zero = b.scalar(counts->dtype(), 0), *one = b.scalar(counts->dtype(), 1);
  RELAXC_TRY(Value * places, c.op("range_of", {zero, one, b.shape({size})}));
  RELAXC_TRY(Value * limits, c.reshape(counts, {counts->shape()[0], c.context().index(1)}));
  return c.op("less", {places, limits});
}

Result<Moved> move_first(TvmCall& c, Value* holds) {
  Exprs dims = holds->shape();
  RELAXC_TRY(Value * ones, c.cast(holds, DType::i(32)));
  RELAXC_TRY(Value * counts, c.op("sum", {ones}, {{"axis", Ints{1}}}));
  RELAXC_TRY(Value * others, c.op("logical_not", {holds}));
  RELAXC_TRY(others, c.cast(others, DType::i(32)));
  RELAXC_TRY(Value * order, c.op("argsort", {others}, {{"axis", int64_t{1}}}));  // argsort is stable
  RELAXC_TRY(Value * kept, first_of(c, counts, dims[1]));
  return Moved{counts, order, kept};
}

Result<Value*> reordered(TvmCall& c, Value* boxes, Value* order, Value* kept) {
  relax::GraphBuilder& b = c.build();
  Exprs dims = boxes->shape(), column{dims[0], dims[1], c.context().index(1)};
  RELAXC_TRY(Value * wide, c.reshape(order, column));
  RELAXC_TRY(wide, c.op("broadcast_to", {wide, b.shape(dims)}));
  RELAXC_TRY(Value * moved, c.op("gather_elements", {boxes, wide}, {{"axis", int64_t{1}}}));
  if (kept == nullptr) return moved;
  RELAXC_TRY(Value * rows, c.reshape(kept, column));
  return c.op("where", {rows, moved, b.scalar(boxes->dtype(), -1)});
}

Result<Value*> lists_of_boxes(TvmCall& c) {
  RELAXC_TRY(Value * boxes, c.tensor("data"));
  if (boxes->shape().size() == 3) return boxes;
  return c.error("data", Kind::rank_mismatch, "{} takes [N, boxes, fields], found {}", c.spelled,
                 relax::to_string(boxes->info));
}

namespace {

/// What the attributes of the call say.
struct Settings {
  int64_t most, top_k, coordinates, score, id;  ///< id: the field of the class, below 0 if classes do not matter
  double overlap, sigma, lowest;
};

Result<Settings> settings_of(TvmCall& c) {
  Settings s{};
  RELAXC_TRY(s.most, c.integer("max_output_size", -1));
  RELAXC_TRY(s.top_k, c.integer("top_k", -1));
  RELAXC_TRY(s.coordinates, c.integer("coord_start", 2));
  RELAXC_TRY(s.score, c.integer("score_index", 1));
  RELAXC_TRY(s.id, c.integer("id_index", 0));
  RELAXC_TRY(s.overlap, c.real("iou_threshold", 0.5));
  RELAXC_TRY(s.sigma, c.real("soft_nms_sigma", 0));
  RELAXC_TRY(s.lowest, c.real("score_threshold", 0));
  RELAXC_TRY(bool force, c.flag("force_suppress", false));
  if (force) s.id = -1;
  if (s.sigma <= 0) s.lowest = 0;
  return s;
}

/// Builds the step from nested calls; after the first failure, every call gives null.
class Chain {
 public:
  Chain(relax::GraphBuilder& b, DType dtype) : b_(b), dtype_(dtype) {}
  Value* call(OpName op, std::vector<Value*> operands, relax::Attrs attrs = {}) {
    if (failed_) return nullptr;
    Result<Value*> made = b_.call(op, std::move(operands), std::move(attrs));
    failed_ = !made;
    return made ? *made : nullptr;
  }
  Value* number(double value) { return b_.scalar(dtype_, value); }
  /// Returns x[image, at[image]] of x [images, boxes].
  Value* at(Value* x, Value* places) { return call("gather_elements", {x, places}, {{"axis", int64_t{1}}}); }
  bool failed() const { return failed_; }

 private:
  relax::GraphBuilder& b_;
  DType dtype_;
  bool failed_ = false;
};

class Suppression {
 public:
  /// \param boxes   in order of their scores
  /// \param scores  theirs, minus infinity for those that take no part
  Suppression(TvmCall& c, Settings settings, Value* boxes, Value* scores)
      : c_(c), s_(settings), boxes_(boxes), scores_(scores), function_(c.build().function()) {}

  /// The loop's results: which steps keep a box, which, and its score; each [images, boxes].
  struct Kept {
    Value *found, *places, *scores;
  };
  Result<Kept> run() {
    RELAXC_DO(find_sides());
    relax::GraphBuilder& outer = c_.build();
    const Exprs dims = scores_->shape();
    Exprs column{dims[0], c_.context().index(1)};
    RELAXC_TRY(Value * none, c_.op("zeros", {outer.shape(column)}, {{"dtype", DType::i(32)}}));
    relax::Op* loop = outer.append(relax::OpKind::kLoop, {outer.prim(dims[1]), nullptr, scores_, none});
    relax::Region* body = function_.make_region(loop);
    arith::Var step = c_.context().var("step");
    function_.facts.bound(step, arith::Range::at_least(0));
    function_.facts.assume(arith::lt(step, dims[1]));
    loop->binds.push_back(step);
    function_.make_argument(body, "step", relax::prim_info(c_.context(), DType::index(), step));
    Value* scores = function_.make_argument(body, "scores", scores_->info);
    Value* count = function_.make_argument(body, "count", none->info);
    relax::GraphBuilder b(outer.module(), outer.table(), function_.make_block(body, true), outer.diag());
    b.location = outer.location;
    RELAXC_TRY(std::vector<Value*> next, one_step(b, scores, count, step));
    body->yield->add_operand(nullptr);
    for (Value* value : next) body->yield->add_operand(value);
    function_.make_result(loop, "", scores_->info);
    function_.make_result(loop, "", none->info);
    std::vector<Value*> stacked;
    for (size_t k = 2; k < next.size(); ++k) {
      Exprs shape{dims[1], dims[0]};
      function_.make_result(loop, "", relax::tensor_info(c_.context(), shape, next[k]->dtype()));
      RELAXC_TRY(Value * list, c_.permute(loop->results[k], {1, 0}));
      stacked.push_back(list);
    }
    return Kept{stacked[0], stacked[1], stacked[2]};
  }

 private:
  /// Finds the ends and the areas of all boxes, each [images, boxes].
  Status find_sides() {
    for (int64_t axis : {0, 1}) {
      RELAXC_TRY(Value * a, column_of(c_, boxes_, s_.coordinates + axis));
      RELAXC_TRY(Value * b, column_of(c_, boxes_, s_.coordinates + axis + 2));
      RELAXC_TRY(low_[axis], c_.op("minimum", {a, b}));
      RELAXC_TRY(high_[axis], c_.op("maximum", {a, b}));
      RELAXC_TRY(Value * extent, c_.op("subtract", {high_[axis], low_[axis]}));
      if (axis == 0) {
        area_ = extent;
      } else {
        RELAXC_TRY(area_, c_.op("multiply", {area_, extent}));
      }
    }
    if (s_.id >= 0) {
      RELAXC_TRY(class_, column_of(c_, boxes_, s_.id));
    }
    return Done{};
  }

  /// Returns the next scores and the next count, and what the step gives.
  Result<std::vector<Value*>> one_step(relax::GraphBuilder& b, Value* scores, Value* count, arith::Var step) {
    Chain chain(b, scores->dtype());
    const Exprs dims = scores->shape(), column{dims[0], c_.context().index(1)}, row{dims[0]};
    Value* gone = chain.number(-std::numeric_limits<double>::infinity());
    Value* at = s_.sigma > 0
                    ? chain.call("argmax", {scores}, {{"axis", int64_t{1}}, {"keepdims", true}})
                    : chain.call("broadcast_to", {chain.call("shape_to_tensor", {b.shape({step})}), b.shape(column)});
    Value* score = chain.at(scores, at);
    Value* found = chain.call("greater", {score, chain.number(s_.lowest)});
    if (s_.most > 0) {
      Value* room = chain.call("less", {count, b.scalar(DType::i(32), static_cast<double>(s_.most))});
      found = chain.call("logical_and", {found, room});
    }
    Value* shares = overlap(chain, at);
    Value* hit = chain.call("logical_and", {found, chain.call("greater", {scores, chain.number(s_.lowest)})});
    if (class_ != nullptr) hit = chain.call("logical_and", {hit, chain.call("equal", {class_, chain.at(class_, at)})});
    Value* next = chain.call("where", {chain.call("greater_equal", {shares, chain.number(s_.overlap)}), gone,
                                       s_.sigma > 0 ? lowered(chain, scores, shares) : scores});
    next = chain.call("where", {hit, next, scores});
    if (s_.sigma > 0) {
      Value* places =
          chain.call("range_of", {b.scalar(DType::i(64), 0), b.scalar(DType::i(64), 1), b.shape({dims[1]})});
      Value* own = chain.call("logical_and", {found, chain.call("equal", {places, at})});
      next = chain.call("where", {own, gone, next});
    }
    count = chain.call("add", {count, chain.call("astype", {found}, {{"dtype", DType::i(32)}})});
    std::vector<Value*> given{next, count};
    for (Value* value : {found, at, score}) given.push_back(chain.call("reshape", {value, b.shape(row)}));
    if (chain.failed()) return c_.diag.failed();
    return given;
  }

  /// Returns the intersection of each box with the one at its image's place, over their union; 0 if that is empty.
  Value* overlap(Chain& chain, Value* at) {
    Value *zero = chain.number(0), *both = nullptr;
    for (int64_t axis : {1, 0}) {
      Value* high = chain.call("minimum", {high_[axis], chain.at(high_[axis], at)});
      Value* low = chain.call("maximum", {low_[axis], chain.at(low_[axis], at)});
      Value* extent = chain.call("maximum", {chain.call("subtract", {high, low}), zero});
      both = both == nullptr ? extent : chain.call("multiply", {both, extent});
    }
    Value* joint = chain.call("subtract", {chain.call("add", {chain.at(area_, at), area_}), both});
    return chain.call("where", {chain.call("greater", {joint, zero}), chain.call("divide", {both, joint}), zero});
  }

  /// Returns the scores lowered by their overlaps, minus infinity for those that are no longer above the threshold.
  Value* lowered(Chain& chain, Value* scores, Value* shares) {
    Value* exponent = chain.call("multiply", {chain.number(-0.5 / s_.sigma), chain.call("multiply", {shares, shares})});
    Value* lower = chain.call("multiply", {scores, chain.call("exp", {exponent})});
    Value* above = chain.call("greater", {lower, chain.number(s_.lowest)});
    return chain.call("where", {above, lower, chain.number(-std::numeric_limits<double>::infinity())});
  }

  TvmCall& c_;
  Settings s_;
  Value *boxes_, *scores_;
  relax::Function& function_;
  Value *low_[2] = {}, *high_[2] = {}, *area_ = nullptr, *class_ = nullptr;
};

/// Returns which original box each step kept, indices[order[places]] without steps that kept none, then -1; and how
/// many boxes each image has.
Result<std::vector<Value*>> kept_indices(TvmCall& c, Value* order, const Suppression::Kept& kept) {
  relax::GraphBuilder& b = c.build();
  RELAXC_TRY(Value * indices, c.tensor("indices"));
  const relax::Attrs along{{"axis", int64_t{1}}};
  RELAXC_TRY(Moved found, move_first(c, kept.found));
  RELAXC_TRY(Value * some, c.op("gather_elements", {kept.places, found.order}, along));
  RELAXC_TRY(some, c.op("gather_elements", {order, some}, along));
  RELAXC_TRY(some, c.op("gather_elements", {indices, some}, along));
  RELAXC_TRY(some, c.cast(some, DType::i(32)));
  RELAXC_TRY(some, c.op("where", {found.kept, some, b.scalar(DType::i(32), -1)}));
  RELAXC_TRY(Value * counts, c.reshape(found.counts, {order->shape()[0], c.context().index(1)}));
  return std::vector<Value*>{some, counts};
}

/// Returns the boxes that the steps kept, and -1 for the other steps.
Result<Value*> kept_boxes(TvmCall& c, const Settings& settings, Value* sorted, const Suppression::Kept& kept) {
  relax::GraphBuilder& b = c.build();
  const Exprs dims = sorted->shape();
  const Exprs column{dims[0], dims[1], c.context().index(1)};
  Value* rows = sorted;
  if (settings.sigma > 0) {
    RELAXC_TRY(rows, reordered(c, sorted, kept.places, nullptr));
    Value *zero = b.scalar(DType::i(64), 0), *one = b.scalar(DType::i(64), 1);
    RELAXC_TRY(Value * fields, c.op("range_of", {zero, one, b.shape({dims[2]})}));
    Value* at = b.scalar(DType::i(64), static_cast<double>(settings.score));
    RELAXC_TRY(Value * is_score, c.op("equal", {fields, at}));
    RELAXC_TRY(Value * scores, c.reshape(kept.scores, column));
    RELAXC_TRY(rows, c.op("where", {is_score, scores, rows}));
  }
  RELAXC_TRY(Value * found, c.reshape(kept.found, column));
  return c.op("where", {found, rows, b.scalar(sorted->dtype(), -1)});
}

Status check_fields(TvmCall& c, const Settings& s, const Value& boxes) {
  const int64_t* fields = boxes.shape()[2].constant();
  const bool fits = fields != nullptr && s.coordinates >= 0 && s.score >= 0 && s.coordinates + 4 <= *fields &&
                    s.score < *fields && s.id < *fields;
  if (fits) return Done{};
  return c.error("data", Kind::invalid_attribute,
                 "{} of {} fields, with coordinates from {}, a score at {} and a class at {}", c.spelled,
                 to_string(boxes.shape()[2]), s.coordinates, s.score, s.id);
}

}  // namespace

/// vision.non_max_suppression(data, valid_count, indices, max_output_size, iou_threshold, force_suppress, top_k,
/// coord_start, score_index, id_index, return_indices, invalid_to_bottom, soft_nms_sigma, score_threshold): of the
/// first boxes, in order of their scores, those that no better one of their class overlaps.
Result<Term> greedy_suppression(TvmCall& c) {
  RELAXC_TRY(Value * boxes, lists_of_boxes(c));
  RELAXC_TRY(Value * counts, c.tensor("valid_count"));
  RELAXC_TRY(const Settings settings, settings_of(c));
  RELAXC_DO(check_fields(c, settings, *boxes));
  RELAXC_TRY(bool wants_indices, c.flag("return_indices", true));
  RELAXC_TRY(bool to_bottom, c.flag("invalid_to_bottom", false));
  relax::GraphBuilder& b = c.build();
  RELAXC_TRY(Value * scores, column_of(c, boxes, settings.score));
  if (settings.top_k > 0) {
    Value* most = b.scalar(counts->dtype(), static_cast<double>(settings.top_k));
    RELAXC_TRY(counts, c.op("minimum", {counts, most}));
  }
  RELAXC_TRY(Value * all_counts, c.tensor("valid_count"));
  RELAXC_TRY(Value * valid, first_of(c, all_counts, boxes->shape()[1]));
  Value* lowest = b.scalar(boxes->dtype(), -std::numeric_limits<double>::infinity());
  RELAXC_TRY(scores, c.op("where", {valid, scores, lowest}));
  RELAXC_TRY(Value * order, c.op("argsort", {scores}, {{"axis", int64_t{1}}, {"descending", true}}));
  RELAXC_TRY(Value * sorted, reordered(c, boxes, order, nullptr));
  RELAXC_TRY(Value * taken, first_of(c, counts, boxes->shape()[1]));
  RELAXC_TRY(scores, c.op("gather_elements", {scores, order}, {{"axis", int64_t{1}}}));
  RELAXC_TRY(scores, c.op("where", {taken, scores, lowest}));
  RELAXC_TRY(const Suppression::Kept kept, Suppression(c, settings, sorted, scores).run());
  RELAXC_TRY(Value * all, kept_boxes(c, settings, sorted, kept));
  if (wants_indices) {
    RELAXC_TRY(std::vector<Value*> found, kept_indices(c, order, kept));
    if (settings.sigma > 0) found.insert(found.begin(), all);
    std::vector<Term> terms;
    for (Value* value : found) terms.push_back(Term::of(value));
    return Term::sequence(std::move(terms));
  }
  if (!to_bottom) return Term::of(all);
  RELAXC_TRY(scores, column_of(c, all, settings.score));
  RELAXC_TRY(Value * holds, c.op("greater_equal", {scores, b.scalar(boxes->dtype(), 0)}));
  RELAXC_TRY(Moved found, move_first(c, holds));
  return c.term(reordered(c, all, found.order, found.kept));
}

}  // namespace relaxc::frontend
