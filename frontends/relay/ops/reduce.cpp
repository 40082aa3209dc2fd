// reduce.cpp: reductions, cumulative sums, sorting.
#include <algorithm>

#include "frontends/relay/sizes.h"

namespace relaxc::relay::reduce_family {
namespace {

/// Returns the axes to reduce: the given ones, with `exclude` all others, and all axes if none is given.
Result<Ints> reduced_axes(TvmCall& c, size_t dims) {
  RELAXC_TRY(Ints axes, c.ints("axis", {}));
  RELAXC_TRY(bool exclude, c.flag("exclude", false));
  auto rank = static_cast<int64_t>(dims);
  for (int64_t& axis : axes) {
    if (axis < -rank || axis >= rank)
      return c.error("axis", Kind::invalid_attribute, "axis {} of {} is not one of {} axes", axis, c.spelled, rank);
    if (axis < 0) axis += rank;
  }
  if (!exclude && c.has("axis")) return axes;
  Ints others;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) others.push_back(axis);
  return others;
}

/// sum(data, axis, keepdims, exclude), and other reductions
Result<Term> reduce(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(Ints axes, reduced_axes(c, x->shape().size()));
  RELAXC_TRY(bool keepdims, c.flag("keepdims", false));
  if (axes.empty()) return Term::of(x);
  return c.term(c.op(c.own_name(), {x}, {{"axis", axes}, {"keepdims", keepdims}}));
}

/// argmax(data, axis, keepdims, exclude, select_last_index), argmin: int32; several axes are flattened to one first.
Result<Term> arg_reduce(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  size_t rank = x->shape().size();
  RELAXC_TRY(Ints axes, reduced_axes(c, rank));
  RELAXC_TRY(bool keepdims, c.flag("keepdims", false));
  RELAXC_TRY(bool select_last, c.flag("select_last_index", false));
  std::sort(axes.begin(), axes.end());
  Ints order;
  Exprs left, kept;
  for (size_t i = 0; i < rank; ++i) {
    bool gone = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    kept.push_back(gone ? c.context().index(1) : x->shape()[i]);
    if (gone) continue;
    order.push_back(static_cast<int64_t>(i));
    left.push_back(x->shape()[i]);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  arith::Expr joined = c.context().index(1);
  for (int64_t axis : axes) joined = joined * x->shape()[static_cast<size_t>(axis)];
  Exprs flat = left;
  flat.push_back(arith::simplify(joined));
  RELAXC_TRY(x, c.permute(x, order));
  RELAXC_TRY(x, c.reshape(x, std::move(flat)));
  RELAXC_TRY(x, c.op(c.own_name(), {x}, {{"axis", int64_t{-1}}, {"select_last", select_last}}));
  RELAXC_TRY(x, c.cast(x, DType::i(32)));
  return c.term(keepdims ? c.reshape(x, std::move(kept)) : Result<Value*>(x));
}

/// variance(data, mean, axis, keepdims, exclude, unbiased)
Result<Term> variance(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * mean, c.tensor("mean"));
  RELAXC_TRY(Ints axes, reduced_axes(c, x->shape().size()));
  RELAXC_TRY(bool keepdims, c.flag("keepdims", false));
  RELAXC_TRY(bool unbiased, c.flag("unbiased", false));
  RELAXC_TRY(Value * distance, c.op("subtract", {x, mean}));
  RELAXC_TRY(distance, c.op("square", {distance}));
  if (!unbiased) return c.term(c.op("mean", {distance}, {{"axis", axes}, {"keepdims", keepdims}}));
  arith::Expr count = c.context().index(-1);
  arith::Expr all = c.context().index(1);
  for (int64_t axis : axes) all = all * x->shape()[static_cast<size_t>(axis)];
  RELAXC_TRY(Value * sum, c.op("sum", {distance}, {{"axis", axes}, {"keepdims", keepdims}}));
  RELAXC_TRY(Value * divisor, c.op("shape_to_tensor", {c.build().shape({arith::simplify(all + count)})}));
  RELAXC_TRY(divisor, c.reshape(divisor, {}));
  RELAXC_TRY(divisor, c.cast(divisor, x->dtype()));
  return c.term(c.op("divide", {sum, divisor}));
}

/// topk(data, k, axis, ret_type, is_ascend, dtype), dyn.topk: with is_ascend, the k smallest.
Result<Term> topk(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(int64_t axis, c.integer("axis", -1));
  RELAXC_TRY(std::string wanted, c.text("ret_type", "both"));
  RELAXC_TRY(bool ascending, c.flag("is_ascend", false));
  RELAXC_TRY(DType dtype, c.dtype("dtype", DType::i(32)));
  auto rank = static_cast<int64_t>(x->shape().size());
  if (axis < -rank || axis >= rank) return c.error("axis", Kind::invalid_attribute, "axis {} of {} axes", axis, rank);
  Value* k = nullptr;
  if (c.is_value("k")) {
    RELAXC_TRY(Value * count, c.value("k"));
    RELAXC_TRY(k, shape_from(c, count));
  } else {
    RELAXC_TRY(int64_t count, c.integer("k", 1));
    arith::Expr all = x->shape()[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
    k = c.build().shape({count < 1 ? all : c.context().index(count)});
  }
  RELAXC_TRY(std::vector<Value*> made, c.build().call_many("topk", {x, k}, {{"axis", axis}, {"largest", !ascending}}));
  RELAXC_TRY(made[1], c.cast(made[1], dtype));
  if (wanted == "values") return Term::of(made[0]);
  if (wanted == "indices") return Term::of(made[1]);
  return Term::sequence({Term::of(made[0]), Term::of(made[1])});
}

/// argsort(data, axis, is_ascend, dtype), sort(data, axis, is_ascend)
Result<Term> sort(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(int64_t axis, c.integer("axis", -1));
  RELAXC_TRY(bool ascending, c.flag("is_ascend", true));
  RELAXC_TRY(DType dtype, c.dtype("dtype", DType::i(32)));
  bool places = c.name == "argsort";
  RELAXC_TRY(x, c.op(c.own_name(), {x}, {{"axis", axis}, {"descending", !ascending}}));
  return c.term(places ? c.cast(x, dtype) : Result<Value*>(x));
}

/// sequence_mask(data, valid_length, mask_value, axis): masks elements after each length, along axis 0 or 1.
Result<Term> sequence_mask(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * lengths, c.tensor("valid_length"));
  RELAXC_TRY(double value, c.real("mask_value", 0));
  RELAXC_TRY(int64_t axis, c.integer("axis", 0));
  if (axis < 0 || axis > 1 || x->shape().size() < 2)
    return c.error("axis", Kind::invalid_attribute, "{} is along axis 0 or 1 of 2 or more", c.spelled);
  if (lengths->shape().size() != 1)
    return c.error("valid_length", Kind::rank_mismatch, "{} takes a list of lengths, found {}", c.spelled,
                   relax::to_string(lengths->info));
  relax::GraphBuilder& b = c.build();
  auto along = [&](int64_t at, Value* list) -> Result<Value*> {
    Exprs dims(x->shape().size(), c.context().index(1));
    dims[static_cast<size_t>(at)] = list->shape()[0];
    return c.reshape(list, std::move(dims));
  };
  DType dtype = lengths->dtype();
  Value* extent = b.shape({x->shape()[static_cast<size_t>(axis)]});
  RELAXC_TRY(Value * places, c.op("range_of", {b.scalar(dtype, 0), b.scalar(dtype, 1), extent}));
  RELAXC_TRY(places, along(axis, places));
  RELAXC_TRY(lengths, along(1 - axis, lengths));
  RELAXC_TRY(Value * inside, c.op("less", {places, lengths}));
  return c.term(c.op("where", {inside, x, b.scalar(x->dtype(), value)}));
}

constexpr std::string_view kReduce = "data:x, axis, keepdims=False, exclude=False";
constexpr std::string_view kArgReduce = "data:x, axis, keepdims=False, exclude=False, select_last_index=False";

constexpr Row kRows[] = {
    {"sum", kReduce, "sum", reduce},
    {"mean", kReduce, "mean", reduce},
    {"max", kReduce, "max", reduce},
    {"min", kReduce, "min", reduce},
    {"prod", kReduce, "prod", reduce},
    {"all", kReduce, "all", reduce},
    {"any", kReduce, "any", reduce},
    {"logsumexp", kReduce, "log_sum_exp", reduce},
    {"argmax", kArgReduce, "argmax", arg_reduce},
    {"argmin", kArgReduce, "argmin", arg_reduce},
    {"variance", "data, mean, axis, keepdims, exclude, unbiased", {}, variance},
    {"cumsum", "data, axis, dtype, exclusive", "cumsum"},
    {"cumprod", "data, axis, dtype, exclusive", "cumprod"},
    {"topk", "data, k=1, axis, ret_type, is_ascend, dtype", {}, topk},
    {"dyn.topk", "data, k, axis, ret_type, is_ascend, dtype", {}, topk},
    {"sort", "data, axis, is_ascend", "sort", sort},
    {"argsort", "data, axis, is_ascend, dtype", "argsort", sort},
    {"sequence_mask", "data, valid_length, mask_value, axis", {}, sequence_mask},
    {"einsum", "data:tensors, equation", "einsum"},
};

}  // namespace
}  // namespace relaxc::relay::reduce_family

RELAXC_RELAY_OPERATORS(reduce, kRows)
