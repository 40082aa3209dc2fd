// reduce.cpp: reductions over axes, and the operators that find the place of an extreme.
//
// Axes are an attribute before opset 18 (ReduceSum: 13) and an input since; without axes all are reduced, unless
// noop_with_empty_axes says none.
#include "frontends/onnx/fold.h"

namespace relaxc::frontend {
namespace {

struct Reduction {
  Value* x = nullptr;
  Attrs attrs;
  bool nothing = false;  ///< no axis is reduced: element-wise parts still apply
};

Result<Reduction> reduction(Node& node) {
  Diagnostics& diag = node.diag;
  Reduction r;
  RELAXC_TRY(r.x, node.input(0));
  std::vector<int64_t> axes = node.ints_attr("axes");
  int64_t input_since = node.proto.op_type() == "ReduceSum" ? 13 : 18;
  if (node.opset >= input_since && node.has(1)) {
    RELAXC_TRY(axes, node.constant_ints(1, "axes"));
  }
  RELAXC_TRY(axes, normal_axes(node, axes, static_cast<int64_t>(r.x->shape().size())));
  r.nothing = axes.empty() && node.opset >= input_since && node.int_attr("noop_with_empty_axes", 0) != 0;
  r.attrs = {{"axis", axes}, {"keepdims", node.int_attr("keepdims", 1) != 0}};
  return r;
}

Result<Value*> reduce(Node& node, const char* op, const Reduction& r, Value* x) {
  if (r.nothing) return x;
  return node.call(op, {x}, r.attrs);
}

template <const char* Name>
Status plain(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Reduction r, reduction(node));
  if (r.nothing) return node.forward(0, 0);
  return node.set(0, reduce(node, Name, r, r.x));
}

/// before: of each element; after: of the result; either may be null.
template <const char* Before, const char* After>
Status sum_of(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Reduction r, reduction(node));
  Value* x = r.x;
  if (*Before != 0) {
    RELAXC_TRY(x, node.call(Before, {x}));
  }
  RELAXC_TRY(Value * y, reduce(node, "sum", r, x));
  if (*After == 0) return node.set(0, y);
  DType dtype = y->dtype();  // the root of an integer is taken in double
  RELAXC_TRY(y, astype(node, y, dtype.is_float() ? dtype : DType::f(64)));
  RELAXC_TRY(y, node.call(After, {y}));
  return node.set(0, astype(node, y, dtype));
}

Status log_sum_exp(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Reduction r, reduction(node));
  if (r.nothing) return node.forward(0, 0);  // log(exp(x))
  return node.set(0, node.call("log_sum_exp", {r.x}, r.attrs));
}

/// The product, sum, least or largest of known contents in a list.
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

/// The place of the first (or last) extreme along one axis.
template <const char* Name>
Status place(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(int64_t axis, normal_axis(node, node.int_attr("axis", 0), static_cast<int64_t>(x->shape().size())));
  return node.set(0, node.call(Name, {x},
                               {{"axis", axis},
                                {"keepdims", node.int_attr("keepdims", 1) != 0},
                                {"select_last", node.int_attr("select_last_index", 0) != 0}}));
}

Status cum(Node& node, const char* op) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(std::vector<int64_t> axis, node.constant_ints(1, "axis"));
  if (axis.size() != 1) return node.error(Kind::invalid_value, "axis must be a scalar");
  RELAXC_TRY(int64_t at, normal_axis(node, axis[0], static_cast<int64_t>(x->shape().size())));
  std::vector<int64_t> flipped{at};
  bool reverse = node.int_attr("reverse", 0) != 0;
  if (reverse) {
    RELAXC_TRY(x, node.call("flip", {x}, {{"axis", flipped}}));
  }
  RELAXC_TRY(Value * y, node.call(op, {x}, {{"axis", at}, {"exclusive", node.int_attr("exclusive", 0) != 0}}));
  if (reverse) {
    RELAXC_TRY(y, node.call("flip", {y}, {{"axis", flipped}}));
  }
  return node.set(0, y);
}
Status cum_sum(Node& node) {
  return cum(node, "cumsum");
}
Status cum_prod(Node& node) {
  return cum(node, "cumprod");
}

constexpr char kSum[] = "sum", kProd[] = "prod", kMax[] = "max", kMin[] = "min", kMean[] = "mean", kNone[] = "",
               kAbs[] = "abs", kSquare[] = "square", kSqrt[] = "sqrt", kLog[] = "log", kArgmax[] = "argmax",
               kArgmin[] = "argmin";

constexpr Converter kRows[] = {
    {.name = "ReduceSum", .convert = plain<kSum>, .fold = fold_list<fold_add, 0, true>, .note = "constant axes"},
    {.name = "ReduceProd", .convert = plain<kProd>, .fold = fold_list<fold_mul, 1, true>, .note = "constant axes"},
    {.name = "ReduceMax", .convert = plain<kMax>, .fold = fold_list<fold_max, 0, false>, .note = "constant axes"},
    {.name = "ReduceMin", .convert = plain<kMin>, .fold = fold_list<fold_min, 0, false>, .note = "constant axes"},
    {.name = "ReduceMean", .convert = plain<kMean>, .note = "constant axes"},
    {.name = "ReduceL1", .convert = sum_of<kAbs, kNone>, .note = "constant axes"},
    {.name = "ReduceL2", .convert = sum_of<kSquare, kSqrt>, .note = "constant axes"},
    {.name = "ReduceSumSquare", .convert = sum_of<kSquare, kNone>, .note = "constant axes"},
    {.name = "ReduceLogSum", .convert = sum_of<kNone, kLog>, .note = "constant axes"},
    {.name = "ReduceLogSumExp", .convert = log_sum_exp, .note = "constant axes"},
    {.name = "ArgMax", .convert = place<kArgmax>},
    {.name = "ArgMin", .convert = place<kArgmin>},
    {.name = "CumSum", .convert = cum_sum, .note = "constant axis"},
    {.name = "CumProd", .convert = cum_prod, .note = "constant axis"},
};

}  // namespace
}  // namespace relaxc::frontend

RELAXC_CONVERTERS(reduce, kRows)
