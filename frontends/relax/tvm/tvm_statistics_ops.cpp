// tvm_statistics_ops.cpp: converts TVM's operators that count, sort, sample and compute losses.
//
// The comment of each function begins with TVM's form of the call; parameters that it omits have their default.
#include <cmath>

#include "frontends/relax/tvm/tvm_names.h"

namespace relaxc::frontend {
namespace {

using namespace tvm_names;

/// size(x): how many elements.
Result<Term> size(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  arith::Expr elements = c.context().index(1);
  for (arith::Expr dim : x->shape()) elements = elements * dim;
  RELAXC_TRY(Value * count, c.op("shape_to_tensor", {c.build().shape({arith::simplify(elements)})}));
  return c.term(c.reshape(count, {}));
}

/// bucketize(input_tensor, boundaries, out_int32, right): into which interval between the boundaries each element
/// falls.
Result<Term> bucketize(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("input_tensor"));
  RELAXC_TRY(Value * boundaries, c.tensor("boundaries"));
  RELAXC_TRY(bool narrow, c.flag("out_int32", false));
  RELAXC_TRY(bool right, c.flag("right", false));
  RELAXC_TRY(boundaries, c.cast(boundaries, x->dtype()));
  RELAXC_TRY(Value * found, c.op("search_sorted", {boundaries, x}, {{"right", right}}));
  return c.term(c.cast(found, DType::i(narrow ? 32 : 64)));
}

/// median(x, axis, keepdims): the lower of the two in the middle; along one axis, its position too.
Result<Term> median(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(Ints axes, c.ints("axis", {}));
  RELAXC_TRY(bool keepdims, c.flag("keepdims", false));
  if (axes.size() > 1) return c.error("axis", Kind::unsupported, "R.median is along one axis or over all elements");
  size_t rank = x->shape().size();
  int64_t axis = axes.empty() ? 0 : axes[0];
  if (axes.empty()) {
    RELAXC_TRY(x, c.op("flatten", {x}));
  }
  auto dims = static_cast<int64_t>(x->shape().size());
  if (axis < -dims || axis >= dims)
    return c.error("axis", Kind::invalid_attribute, "axis {} of R.median is not one of {} axes", axis, dims);
  relax::GraphBuilder& b = c.build();
  arith::Expr extent = x->shape()[static_cast<size_t>(axis < 0 ? axis + dims : axis)], one = c.context().index(1);
  arith::Expr middle = arith::simplify(arith::floordiv(extent - one, c.context().index(2)));
  auto at_middle = [&](Value* sorted) -> Result<Value*> {
    return c.op("strided_slice", {sorted, b.shape({middle}), b.shape({middle + one})}, {{"axes", Ints{axis}}});
  };
  RELAXC_TRY(Value * order, c.op("argsort", {x}, {{"axis", axis}}));
  RELAXC_TRY(Value * place, at_middle(order));
  RELAXC_TRY(Value * value, c.op("gather_elements", {x, place}, {{"axis", axis}}));
  if (axes.empty()) return c.term(c.reshape(value, keepdims ? Exprs(rank, one) : Exprs()));
  if (!keepdims) {
    RELAXC_TRY(value, c.op("squeeze", {value}, {{"axis", Ints{axis}}}));
    RELAXC_TRY(place, c.op("squeeze", {place}, {{"axis", Ints{axis}}}));
  }
  return Term::sequence({Term::of(value), Term::of(place)});
}

/// multinomial_from_uniform(prob, uniform_sample, sample_indices, dtype): in row sample_indices[i] of probabilities,
/// the first place whose running sum is above uniform_sample[i], or the last.
Result<Term> multinomial(TvmCall& c) {
  RELAXC_TRY(Value * probabilities, c.tensor("prob"));
  RELAXC_TRY(Value * uniform, c.tensor("uniform_sample"));
  RELAXC_TRY(Value * rows, c.tensor("sample_indices"));
  RELAXC_TRY(DType dtype, c.dtype("dtype", DType::i(64)));
  if (probabilities->shape().size() != 2 || rows->shape().size() != 2)
    return c.error("prob", Kind::rank_mismatch, "{} takes rows of probabilities and columns of samples, found {}",
                   c.spelled, relax::to_string(probabilities->info));
  RELAXC_TRY(rows, c.op("squeeze", {rows}, {{"axis", Ints{1}}}));
  RELAXC_TRY(rows, c.cast(rows, DType::i(64)));
  RELAXC_TRY(Value * sums, c.op("cumsum", {probabilities}, {{"axis", int64_t{1}}}));
  RELAXC_TRY(sums, c.op("take", {sums, rows}, {{"axis", int64_t{0}}}));
  RELAXC_TRY(uniform, c.cast(uniform, sums->dtype()));
  RELAXC_TRY(Value * passed, c.op("less_equal", {sums, uniform}));
  RELAXC_TRY(passed, c.cast(passed, DType::i(64)));
  RELAXC_TRY(Value * place, c.op("sum", {passed}, {{"axis", Ints{1}}, {"keepdims", true}}));
  arith::Expr last = probabilities->shape()[1] - c.context().index(1);
  RELAXC_TRY(Value * most, c.op("shape_to_tensor", {c.build().shape({last})}));
  RELAXC_TRY(place, c.op("minimum", {place, most}));
  return c.term(c.cast(place, dtype));
}

/// hamming_window(window_size, periodic, alpha, beta, dtype): alpha - beta * cos(2 pi i / (n - 1)), where n is one more
/// if periodic.
Result<Term> hamming_window(TvmCall& c) {
  RELAXC_TRY(int64_t count, c.integer("window_size", 1));
  RELAXC_TRY(bool periodic, c.flag("periodic", true));
  RELAXC_TRY(double alpha, c.real("alpha", 0.54));
  RELAXC_TRY(double beta, c.real("beta", 0.46));
  RELAXC_TRY(DType dtype, c.dtype("dtype", DType::f(32)));
  if (count < 1 || !dtype.is_float())
    return c.error("window_size", Kind::invalid_value, "R.hamming_window of {} elements of {}", count,
                   to_string(dtype));
  relax::GraphBuilder& b = c.build();
  auto turn = static_cast<double>(periodic ? count : std::max<int64_t>(count - 1, 1));
  Value* extent = b.shape({c.context().index(count)});
  RELAXC_TRY(Value * angle, c.op("range_of", {b.scalar(dtype, 0), b.scalar(dtype, 2 * M_PI / turn), extent}));
  RELAXC_TRY(Value * wave, c.op("cos", {angle}));
  RELAXC_TRY(wave, c.op("multiply", {wave, b.scalar(dtype, beta)}));
  return c.term(c.op("subtract", {b.scalar(dtype, alpha), wave}));
}

/// nn.cross_entropy_with_logits(predictions, labels): -sum(predictions * labels), by row where there are rows.
Result<Term> cross_entropy(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("predictions"));
  RELAXC_TRY(Value * labels, c.tensor("labels"));
  RELAXC_TRY(Value * product, c.op("multiply", {x, labels}));
  RELAXC_TRY(Value * sum, c.op("sum", {product}, {{"axis", Ints{}}}));
  RELAXC_TRY(sum, c.op("negative", {sum}));
  if (x->shape().size() < 2) return Term::of(sum);
  RELAXC_TRY(Value * rows, c.op("shape_to_tensor", {c.build().shape({x->shape()[0]})}));
  RELAXC_TRY(rows, c.cast(rows, x->dtype()));
  RELAXC_TRY(rows, c.reshape(rows, {}));
  return c.term(c.op("divide", {sum, rows}));
}

/// nn.nll_loss(predictions, targets, weights, reduction, ignore_index): -predictions[target] * weights[target]; the
/// mean is by the sum of the weights.
Result<Term> likelihood_loss(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("predictions"));
  RELAXC_TRY(Value * target, c.tensor("targets"));
  RELAXC_TRY(std::string reduction, c.text("reduction", "mean"));
  RELAXC_TRY(int64_t ignored, c.integer("ignore_index", -100));
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    return c.error("reduction", Kind::invalid_attribute, "reduction \"{}\" is not one of mean, sum, none", reduction);
  int64_t axis = x->shape().size() > 1 ? 1 : 0;
  relax::GraphBuilder& b = c.build();
  RELAXC_TRY(target, c.cast(target, DType::i(64)));
  RELAXC_TRY(Value * keep, c.op("not_equal", {target, b.scalar(DType::i(64), static_cast<double>(ignored))}));
  RELAXC_TRY(target, c.op("where", {keep, target, b.scalar(DType::i(64), 0)}));
  RELAXC_TRY(Value * weight, c.cast(keep, x->dtype()));
  if (c.has("weights")) {
    RELAXC_TRY(Value * all, c.tensor("weights"));
    RELAXC_TRY(all, c.op("take", {all, target}, {{"axis", int64_t{0}}}));
    RELAXC_TRY(weight, c.op("multiply", {weight, all}));
  }
  RELAXC_TRY(Value * place, c.op("expand_dims", {target}, {{"axis", Ints{axis}}}));
  RELAXC_TRY(Value * loss, c.op("gather_elements", {x, place}, {{"axis", axis}}));
  RELAXC_TRY(loss, c.op("squeeze", {loss}, {{"axis", Ints{axis}}}));
  RELAXC_TRY(loss, c.op("negative", {loss}));
  RELAXC_TRY(loss, c.op("multiply", {loss, weight}));
  if (reduction == "none") return Term::of(loss);
  RELAXC_TRY(loss, c.op("sum", {loss}, {{"axis", Ints{}}}));
  if (reduction == "sum") return Term::of(loss);
  RELAXC_TRY(weight, c.op("sum", {weight}, {{"axis", Ints{}}}));
  return c.term(c.op("divide", {loss, weight}));
}

constexpr TvmOperator kStatisticsRows[] = {
    {"size", "x", size},
    {"bucketize", "input_tensor, boundaries, out_int32, right", bucketize},
    {"median", "x, axis, keepdims", median},
    {"multinomial_from_uniform", "prob, uniform_sample, sample_indices, dtype", multinomial},
    {"hamming_window", "window_size, periodic, alpha, beta, dtype", hamming_window},
    {"nn.cross_entropy_with_logits", "predictions, labels", cross_entropy},
    {"nn.nll_loss", "predictions, targets, weights, reduction, ignore_index", likelihood_loss},
};

}  // namespace

std::span<const TvmOperator> tvm_statistics_operators() {
  return kStatisticsRows;
}

}  // namespace relaxc::frontend
