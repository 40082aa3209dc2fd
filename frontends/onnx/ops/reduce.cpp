// reduce.cpp: reductions over axes, and the operators that find the position of an extreme.
//
// Axes are an attribute before opset 18 (ReduceSum: 13) and an input since; without axes all are reduced, or none if
// noop_with_empty_axes is set.
#include "frontends/onnx/axes.h"
#include "frontends/onnx/fold.h"

namespace relaxc::frontend::reduce_family {
namespace {

struct Reduction {
  Value* x = nullptr;
  Attrs attrs;
  bool nothing = false;           ///< no axis is reduced; element-wise parts still apply
  std::vector<Expr> result_dims;  ///< the result's shape, if axes are read at run time
};

/// Prepares a reduction over axes read at run time: dim d becomes [1, d] if it is reduced and [d, 1] if not, so that
/// reducing every second dim is right whatever the axes are.
Status reduce_unknown(Node& node, Reduction& r, const std::vector<Expr>& axes, bool keep) {
  std::vector<Expr> dims = r.x->shape(), pairs, kept;
  std::vector<int64_t> seconds;
  for (size_t i = 0; i < dims.size(); ++i) {
    Expr reduced = is_one_of(node, static_cast<int64_t>(i), axes);
    kept.push_back(node.simplify(arith::select(reduced, node.index(1), dims[i])));
    pairs.push_back(kept.back());
    pairs.push_back(node.simplify(arith::select(reduced, dims[i], node.index(1))));
    seconds.push_back(static_cast<int64_t>(2 * i + 1));
  }
  RELAXC_TRY(r.x, reshape(node, r.x, std::move(pairs)));
  r.attrs = {{"axis", seconds}, {"keepdims", false}};
  r.result_dims = keep ? kept : without(node, dims, axes);
  return Done{};
}

Result<Reduction> reduction(Node& node) {
  Reduction r;
  RELAXC_TRY(r.x, node.input(0));
  int64_t rank = static_cast<int64_t>(r.x->shape().size());
  bool keep = node.int_attr("keepdims", 1) != 0;
  std::vector<int64_t> axes = node.ints_attr("axes");
  RELAXC_TRY(axes, normal_axes(node, axes, rank));
  int64_t input_since = node.proto.op_type() == "ReduceSum" ? 13 : 18;
  if (node.opset >= input_since && node.has(1)) {
    RELAXC_TRY(std::vector<Expr> given, axis_exprs(node, 1, "axes", rank));
    std::optional<std::vector<int64_t>> numbers = as_numbers(given);
    if (!numbers) {
      RELAXC_DO(reduce_unknown(node, r, given, keep));
      return r;
    }
    axes = *numbers;
  }
  r.nothing = axes.empty() && node.opset >= input_since && node.int_attr("noop_with_empty_axes", 0) != 0;
  r.attrs = {{"axis", axes}, {"keepdims", keep}};
  return r;
}

Result<Value*> reduce(Node& node, OpName op, const Reduction& r, Value* x) {
  if (r.nothing) return x;
  RELAXC_TRY(Value * y, node.call(op, {x}, r.attrs));
  if (r.result_dims.empty()) return y;
  return reshape(node, y, r.result_dims);
}

template <const OpName& Name>
Status plain(Node& node) {
  RELAXC_TRY(Reduction r, reduction(node));
  if (r.nothing) return node.forward(0, 0);
  return node.set(0, reduce(node, Name, r, r.x));
}

/// Converts a sum of `Before` applied to each element, with `After` applied to the result; either may be null.
template <const OpName* Before, const OpName* After>
Status sum_of(Node& node) {
  RELAXC_TRY(Reduction r, reduction(node));
  Value* x = r.x;
  if (Before != nullptr) {
    RELAXC_TRY(x, node.call(*Before, {x}));
  }
  RELAXC_TRY(Value * y, reduce(node, "sum", r, x));
  if (After == nullptr) return node.set(0, y);
  DType dtype = y->dtype();  // an integer's root or logarithm is taken in float64
  RELAXC_TRY(y, astype(node, y, dtype.is_float() ? dtype : DType::f(64)));
  RELAXC_TRY(y, node.call(*After, {y}));
  return node.set(0, astype(node, y, dtype));
}

Status log_sum_exp(Node& node) {
  RELAXC_TRY(Reduction r, reduction(node));
  if (r.nothing) return node.forward(0, 0);  // log(exp(x)) is x
  const DType dtype = r.x->dtype();          // of integers it is taken in float64
  RELAXC_TRY(r.x, astype(node, r.x, dtype.is_float() ? dtype : DType::f(64)));
  RELAXC_TRY(Value * y, reduce(node, "log_sum_exp", r, r.x));
  return node.set(0, astype(node, y, dtype));
}

/// Folds a product, sum, minimum or maximum of a known list. Returns false if it cannot.
template <ScalarFold F, int64_t Start, bool HasStart>
bool fold_list(Node& node) {
  const Known* x = node.known(0);
  if (x == nullptr || x->shape.size() != 1 || x->dtype.is_bool()) return false;
  std::vector<int64_t> axes = node.ints_attr("axes");
  int64_t input_since = node.proto.op_type() == "ReduceSum" ? 13 : 18;
  if (node.opset >= input_since && node.has(1)) {
    const Known* given = node.known(1);
    if (given == nullptr || !given->constants()) return false;
    axes = *given->constants();
  }
  if (axes.empty() && node.int_attr("noop_with_empty_axes", 0) != 0) return false;
  if (!axes.empty() && (axes.size() != 1 || (axes[0] != 0 && axes[0] != -1))) return false;
  if (!HasStart && x->size() == 0) return false;
  Expr result = HasStart ? node.index(Start) : x->elements[0];
  for (size_t i = HasStart ? 0 : 1; i < x->elements.size(); ++i) {
    result = F(node, result, x->elements[i]);
    if (!result) return false;
  }
  bool keep = node.int_attr("keepdims", 1) != 0;
  return node.set_known(0, Known{x->dtype, keep ? std::vector<int64_t>{1} : std::vector<int64_t>{}, {result}});
}

/// Converts ArgMax and ArgMin: the index of the first or last extreme along one axis.
template <const OpName& Name>
Status place(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(int64_t axis, normal_axis(node, node.int_attr("axis", 0), static_cast<int64_t>(x->shape().size())));
  return node.set(0, node.call(Name, {x},
                               {{"axis", axis},
                                {"keepdims", node.int_attr("keepdims", 1) != 0},
                                {"select_last", node.int_attr("select_last_index", 0) != 0}}));
}

/// Converts a cumulative operator. If the axis is read at run time, x is reshaped to [dims before, axis, dims after].
Status cum(Node& node, OpName op) {
  RELAXC_TRY(Value * x, node.input(0));
  std::vector<Expr> dims = x->shape();
  RELAXC_TRY(std::vector<Expr> axis, axis_exprs(node, 1, "axis", static_cast<int64_t>(dims.size())));
  if (axis.size() != 1) return node.error(Kind::invalid_value, "axis must be a scalar");
  std::vector<Expr> three(3, node.index(1));
  int64_t at = 1;
  if (axis[0].constant() != nullptr) {
    at = *axis[0].constant();
  } else {
    for (size_t i = 0; i < dims.size(); ++i) {
      Expr place = node.index(static_cast<int64_t>(i)), one = node.index(1);
      three[0] = three[0] * arith::select(arith::lt(place, axis[0]), dims[i], one);
      three[1] = three[1] * arith::select(arith::eq(place, axis[0]), dims[i], one);
      three[2] = three[2] * arith::select(arith::lt(axis[0], place), dims[i], one);
    }
    for (Expr& extent : three) extent = node.simplify(extent);
    RELAXC_TRY(x, reshape(node, x, std::move(three)));
  }
  std::vector<int64_t> flipped{at};
  bool reverse = node.int_attr("reverse", 0) != 0;
  if (reverse) {
    RELAXC_TRY(x, node.call("flip", {x}, {{"axis", flipped}}));
  }
  RELAXC_TRY(Value * y, node.call(op, {x}, {{"axis", at}, {"exclusive", node.int_attr("exclusive", 0) != 0}}));
  if (reverse) {
    RELAXC_TRY(y, node.call("flip", {y}, {{"axis", flipped}}));
  }
  if (axis[0].constant() == nullptr) {
    RELAXC_TRY(y, reshape(node, y, std::move(dims)));
  }
  return node.set(0, y);
}
/// Converts TopK: the k largest or smallest along an axis; k is an attribute before opset 10.
Status top_k(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  std::vector<Expr> k;
  if (node.opset < 10) {
    k = {node.index(node.int_attr("k", 1))};
  } else {
    RELAXC_TRY(k, node.ints(1, 1));
  }
  RELAXC_TRY(int64_t axis, normal_axis(node, node.int_attr("axis", -1), static_cast<int64_t>(x->shape().size())));
  RELAXC_TRY(std::vector<Value*> results,
             node.call_many("topk", {x, node.shape(std::move(k))},
                            {{"axis", axis}, {"largest", node.int_attr("largest", 1) != 0}}));
  for (size_t i = 0; i < results.size(); ++i) RELAXC_DO(node.set(i, results[i]));
  return Done{};
}

/// Computes x / norm along an axis; 0 where the norm is 0.
Status lp_normalization(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(int64_t axis, normal_axis(node, node.int_attr("axis", -1), static_cast<int64_t>(x->shape().size())));
  int64_t p = node.int_attr("p", 2);
  if (p != 1 && p != 2) return node.error(Kind::invalid_attribute, "p must be 1 or 2, found {}", p);
  RELAXC_TRY(Value * parts, node.call(p == 1 ? OpName("abs") : OpName("square"), {x}));
  RELAXC_TRY(Value * norm, node.call("sum", {parts}, {{"axis", std::vector<int64_t>{axis}}, {"keepdims", true}}));
  if (p == 2) {
    RELAXC_TRY(norm, node.call("sqrt", {norm}));
  }
  Value *zero = node.scalar(x->dtype(), 0), *one = node.scalar(x->dtype(), 1);
  RELAXC_TRY(Value * empty, node.call("equal", {norm, zero}));
  RELAXC_TRY(Value * divisor, node.call("where", {empty, one, norm}));
  return node.set(0, node.call("divide", {x, divisor}));
}

/// Computes (x - mean) / (standard deviation + 1e-9) over axes.
/// Before opset 9, when it was experimental, it was over each channel, or over all channels together.
Status mean_variance(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  std::vector<int64_t> axes = node.ints_attr("axes", {0, 2, 3});
  if (node.opset < 9)
    axes = node.int_attr("across_channels", 0) != 0 ? std::vector<int64_t>{0, 1, 2, 3} : std::vector<int64_t>{0, 2, 3};
  RELAXC_TRY(axes, normal_axes(node, axes, static_cast<int64_t>(x->shape().size())));
  Attrs over{{"axis", axes}, {"keepdims", true}};
  RELAXC_TRY(Value * mean, node.call("mean", {x}, over));
  RELAXC_TRY(Value * centered, node.call("subtract", {x, mean}));
  if (node.opset < 9 && node.int_attr("normalize_variance", 1) == 0) return node.set(0, centered);
  RELAXC_TRY(Value * squares, node.call("square", {centered}));
  RELAXC_TRY(Value * variance, node.call("mean", {squares}, over));
  RELAXC_TRY(Value * deviation, node.call("sqrt", {variance}));
  RELAXC_TRY(Value * shifted, node.call("add", {deviation, node.scalar(x->dtype(), 1e-9)}));
  return node.set(0, node.call("divide", {centered, shifted}));
}

Status cum_sum(Node& node) {
  return cum(node, "cumsum");
}
Status cum_prod(Node& node) {
  return cum(node, "cumprod");
}

constexpr OpName kSum = "sum", kProd = "prod", kMax = "max", kMin = "min", kMean = "mean", kAbs = "abs",
                 kSquare = "square", kSqrt = "sqrt", kLog = "log", kArgmax = "argmax", kArgmin = "argmin";

constexpr Converter kRows[] = {
    {.name = "ReduceSum", .convert = plain<kSum>, .fold = fold_list<fold_add, 0, true>},
    {.name = "ReduceProd", .convert = plain<kProd>, .fold = fold_list<fold_mul, 1, true>},
    {.name = "ReduceMax", .convert = plain<kMax>, .fold = fold_list<fold_max, 0, false>},
    {.name = "ReduceMin", .convert = plain<kMin>, .fold = fold_list<fold_min, 0, false>},
    {.name = "ReduceMean", .convert = plain<kMean>},
    {.name = "ReduceL1", .convert = sum_of<&kAbs, nullptr>},
    {.name = "ReduceL2", .convert = sum_of<&kSquare, &kSqrt>},
    {.name = "ReduceSumSquare", .convert = sum_of<&kSquare, nullptr>},
    {.name = "ReduceLogSum", .convert = sum_of<nullptr, &kLog>},
    {.name = "ReduceLogSumExp", .convert = log_sum_exp},
    {.name = "ArgMax", .convert = place<kArgmax>},
    {.name = "ArgMin", .convert = place<kArgmin>},
    {.name = "TopK", .convert = top_k},
    {.name = "LpNormalization", .convert = lp_normalization},
    {.name = "MeanVarianceNormalization", .convert = mean_variance},
    {.name = "CumSum", .convert = cum_sum},
    {.name = "CumProd", .convert = cum_prod},
};

}  // namespace
}  // namespace relaxc::frontend::reduce_family

RELAXC_CONVERTERS(reduce, kRows)
