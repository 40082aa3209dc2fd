// tvm_tensor_ops.cpp: converts TVM's operators that make and combine tensors.
//
// The comment of each function begins with TVM's form of the call; parameters that it omits have their default.
#include <cmath>

#include "frontends/relax/tvm/tvm_names.h"

namespace relaxc::frontend {
namespace {

using namespace tvm_names;

/// Returns a bound of clip. Those of integers may be real numbers, which are rounded toward 0.
Result<Value*> bound_of(TvmCall& c, std::string_view param, DType dtype) {
  if (!dtype.is_integer() || !c.is_real(param)) return c.element(param, dtype);
  RELAXC_TRY(double real, c.real(param, 0));
  constexpr double kMost = 9e18;  // what is beyond, infinities and NaN are errors of the next line
  if (std::abs(real) < kMost)
    c.put(param, Term::of(Scalar{c.context().index(static_cast<int64_t>(real)), Scalar::kInteger}));
  return c.element(param, dtype);
}

/// clip(x, min, max)
/// clip(x, min, max)
Result<Term> clip(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(Value * low, bound_of(c, "min", x->dtype()));
  RELAXC_TRY(Value * high, bound_of(c, "max", x->dtype()));
  RELAXC_TRY(x, c.op("maximum", {x, low}));
  return c.term(c.op("minimum", {x, high}));
}

/// full(shape, fill_value, dtype); full_like(x, fill_value, dtype)
Result<Term> full(TvmCall& c) {
  bool like = c.name == "full_like";
  DType fallback = DType::f(32);
  Value* shape = nullptr;
  if (like) {
    RELAXC_TRY(Value * x, c.tensor("x"));
    shape = c.build().shape(x->shape());
    fallback = x->dtype();
  } else {
    RELAXC_TRY(shape, c.shape("shape"));
    if (c.is_value("fill_value") && !c.is_number("fill_value")) {
      RELAXC_TRY(Value * value, c.tensor("fill_value"));
      fallback = value->dtype();
    }
  }
  RELAXC_TRY(DType dtype, c.dtype("dtype", fallback));
  RELAXC_TRY(Value * value, c.element("fill_value", dtype));
  RELAXC_TRY(value, c.cast(value, dtype));
  return c.term(c.op("full", {shape, value}));
}

/// tile(x, repeats), where a number repeats the last axis.
Result<Term> tile(TvmCall& c) {
  if (!c.is_number("repeats")) return c.own();
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(arith::Expr times, c.index("repeats", c.context().index(1)));
  return c.term(c.op("tile", {x, c.build().shape({times})}));
}

/// zeros_like(x, dtype), ones_like(x, dtype)
Result<Term> filled_like(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(DType dtype, c.dtype("dtype", x->dtype()));
  return c.term(c.op(c.name == "zeros_like" ? OpName("zeros") : OpName("ones"), {c.build().shape(x->shape())},
                     {{"dtype", dtype}}));
}

/// arange(start, end, step, dtype) of floats.
Result<Term> real_range(TvmCall& c, std::string_view first, std::string_view last) {
  RELAXC_TRY(double start, c.real(first, 0));
  RELAXC_TRY(double end, c.real(last, 0));
  RELAXC_TRY(double step, c.real("step", 1));
  RELAXC_TRY(DType dtype, c.dtype("dtype", DType::f(32)));
  double count = std::max(std::ceil((end - start) / step), 0.0);
  if (!(count < 1e15)) return c.error("step", Kind::invalid_value, "R.arange steps by {}", step);
  if (!dtype.is_float())
    return c.error("dtype", Kind::dtype_mismatch, "R.arange of floats gives floats, found {}", to_string(dtype));
  relax::GraphBuilder& b = c.build();
  Value* extent = b.shape({c.context().index(static_cast<int64_t>(count))});
  return c.term(c.op("range_of", {b.scalar(dtype, start), b.scalar(dtype, step), extent}));
}

/// arange(start, end, step, dtype) of integers, dims or floats; of one number: from 0 to it.
Result<Term> arange(TvmCall& c) {
  if (c.is_shape("start")) {
    RELAXC_TRY(DType dtype, c.dtype("dtype", DType::i(64)));
    RELAXC_TRY(Value * bounds, c.value("start"));
    return c.term(c.op("arange", {bounds}, {{"dtype", dtype}}));
  }
  bool one = !c.has("end");
  std::string_view first = one ? "" : "start", last = one ? "start" : "end";
  if (c.is_real("start") || c.is_real("end") || c.is_real("step")) return real_range(c, first, last);
  arith::Expr zero = c.context().index(0);
  RELAXC_TRY(arith::Expr start, c.index(first, zero));
  RELAXC_TRY(arith::Expr end, c.index(last, zero));
  RELAXC_TRY(int64_t step, c.integer("step", 1));
  RELAXC_TRY(DType dtype, c.dtype("dtype", DType::i(64)));
  if (step == 0 || step == INT64_MIN) return c.error("step", Kind::invalid_value, "R.arange steps by {}", step);
  arith::Expr stride = c.context().index(std::abs(step)), distance = step > 0 ? end - start : start - end;
  arith::Expr count =
      arith::simplify(arith::max(arith::floordiv(distance + stride - c.context().index(1), stride), zero));
  return c.term(c.op("arange", {c.build().shape({start, count, c.context().index(step)})}, {{"dtype", dtype}}));
}

/// eye(n, m, k, dtype), eye_like(x, k, dtype)
Result<Term> eye(TvmCall& c) {
  DType fallback = DType::f(32);
  Value* shape = nullptr;
  if (c.name == "eye_like") {
    RELAXC_TRY(Value * x, c.tensor("x"));
    shape = c.build().shape(x->shape());
    fallback = x->dtype();
  } else if (c.is_shape("n")) {
    RELAXC_TRY(shape, c.value("n"));
  } else {
    RELAXC_TRY(arith::Expr rows, c.index("n", c.context().index(0)));
    RELAXC_TRY(arith::Expr columns, c.index("m", rows));
    shape = c.build().shape({rows, columns});
  }
  RELAXC_TRY(DType dtype, c.dtype("dtype", fallback));
  RELAXC_TRY(int64_t k, c.integer("k", 0));
  return c.term(c.op("eye", {shape}, {{"k", k}, {"dtype", dtype}}));
}

/// tril(x, k), triu(x, k)
Result<Term> triangle(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(arith::Expr k, c.index("k", c.context().index(0)));
  return c.term(c.op("trilu", {x, c.build().shape({k})}, {{"upper", c.name == "triu"}}));
}

/// argmax(x, axis, keepdims): over all elements where there is no axis.
Result<Term> arg_extremum(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(bool keepdims, c.flag("keepdims", false));
  RELAXC_TRY(bool last, c.flag("select_last", false));
  size_t rank = x->shape().size();
  if (c.has("axis")) {
    RELAXC_TRY(int64_t axis, c.integer("axis", 0));
    return c.term(c.op(c.own_name(), {x}, {{"axis", axis}, {"keepdims", keepdims}, {"select_last", last}}));
  }
  RELAXC_TRY(x, c.op("flatten", {x}));
  RELAXC_TRY(x, c.op(c.own_name(), {x}, {{"axis", int64_t{0}}, {"select_last", last}}));
  return c.term(keepdims ? c.reshape(x, Exprs(rank, c.context().index(1))) : Result<Value*>(x));
}

/// squeeze(x, axis): a dim that is known not to be 1 stays, as in PyTorch.
Result<Term> squeeze(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  if (!c.has("axis")) return c.own();
  RELAXC_TRY(Ints axes, c.ints("axis", {}));
  auto rank = static_cast<int64_t>(x->shape().size());
  auto stays = [&](int64_t axis) {
    const int64_t at = axis < 0 ? axis + rank : axis;
    const int64_t* dim = at >= 0 && at < rank ? x->shape()[static_cast<size_t>(at)].constant() : nullptr;
    return dim != nullptr && *dim != 1;
  };
  std::erase_if(axes, stays);
  if (axes.empty()) return Term::of(x);
  return c.term(c.op("squeeze", {x}, {{"axis", axes}}));
}

bool is_bool(const Value& value) {
  const auto* info = value.info->as<relax::TensorInfo>();
  return info != nullptr && info->dtype && info->dtype->is_bool();
}

/// prod(x, axis, keepdims), sum: of bools, whether all or any are true.
Result<Term> reduced(TvmCall& c) {
  RELAXC_TRY(Value * x, c.value("x"));
  if (!is_bool(*x)) return c.own();
  RELAXC_TRY(Ints axes, c.ints("axis", {}));
  RELAXC_TRY(bool keepdims, c.flag("keepdims", false));
  RELAXC_TRY(bool none_is_all, c.flag("none_is_all", true));
  const OpName reduction = c.name == "sum" ? OpName("any") : OpName("all");
  return c.term(c.op(reduction, {x}, {{"axis", axes}, {"keepdims", keepdims}, {"none_is_all", none_is_all}}));
}

/// cumsum(data, axis, dtype, exclusive), cumprod: of all elements where there is no axis.
Result<Term> cumulate(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(DType dtype, c.dtype("dtype", x->dtype()));
  RELAXC_TRY(x, c.cast(x, dtype));
  RELAXC_TRY(int64_t axis, c.integer("axis", 0));
  RELAXC_TRY(bool exclusive, c.flag("exclusive", false));
  RELAXC_TRY(bool reverse, c.flag("reverse", false));
  if (!c.has("axis")) {
    RELAXC_TRY(x, c.op("flatten", {x}));
  }
  return c.term(c.op(c.own_name(), {x}, {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}}));
}

/// linear(data, weight, bias, out_dtype)
Result<Term> linear(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * weight, c.tensor("weight"));
  RELAXC_TRY(DType dtype, c.dtype("out_dtype", x->dtype()));
  RELAXC_TRY(weight, c.op("permute_dims", {weight}));
  relax::Attrs attrs;
  if (dtype != x->dtype()) attrs.set("out_dtype", to_string(dtype));
  RELAXC_TRY(Value * product, c.op("matmul", {x, weight}, std::move(attrs)));
  if (!c.has("bias")) return Term::of(product);
  RELAXC_TRY(Value * bias, c.tensor("bias"));
  return c.term(c.op("add", {product, bias}));
}

/// outer(x1, x2)
Result<Term> outer(TvmCall& c) {
  RELAXC_TRY(Value * a, c.tensor("x1"));
  RELAXC_TRY(Value * b, c.tensor("x2"));
  RELAXC_TRY(a, c.op("expand_dims", {a}, {{"axis", Ints{1}}}));
  RELAXC_TRY(b, c.op("expand_dims", {b}, {{"axis", Ints{0}}}));
  return c.term(c.op("multiply", {a, b}));
}

/// ewise_fma(x1, x2, x3)
Result<Term> multiply_add(TvmCall& c) {
  RELAXC_TRY(Value * a, c.tensor("x1"));
  RELAXC_TRY(Value * b, c.tensor("x2"));
  RELAXC_TRY(Value * d, c.tensor("x3"));
  RELAXC_TRY(a, c.op("multiply", {a, b}));
  return c.term(c.op("add", {a, d}));
}

/// log_add_exp(x1, x2): log(exp(x1) + exp(x2)) without overflow.
Result<Term> log_add_exp(TvmCall& c) {
  RELAXC_TRY(Value * a, c.tensor("x1"));
  RELAXC_TRY(Value * b, c.tensor("x2"));
  RELAXC_TRY(Value * top, c.op("maximum", {a, b}));
  for (Value** x : {&a, &b}) {
    RELAXC_TRY(*x, c.op("subtract", {*x, top}));
    RELAXC_TRY(*x, c.op("exp", {*x}));
  }
  RELAXC_TRY(Value * sum, c.op("add", {a, b}));
  RELAXC_TRY(sum, c.op("log", {sum}));
  return c.term(c.op("add", {top, sum}));
}

/// collapse_sum_to(data, shape), collapse_sum_like(data, target): the sum that undoes a broadcast.
Result<Term> collapse_sum(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  Exprs to;
  if (c.name == "collapse_sum_to") {
    RELAXC_TRY(to, c.dims("shape"));
  } else {
    RELAXC_TRY(Value * target, c.tensor("target"));
    to = target->shape();
  }
  size_t rank = x->shape().size();
  if (to.size() > rank) return c.error("data", Kind::rank_mismatch, "{} of {} dims to {}", c.spelled, rank, to.size());
  Ints axes;
  for (size_t i = 0; i < rank; ++i) {
    bool added = i + to.size() < rank;
    if (added || (to[i + to.size() - rank].is_constant(1) && !x->shape()[i].is_constant(1)))
      axes.push_back(static_cast<int64_t>(i));
  }
  if (!axes.empty()) {
    RELAXC_TRY(x, c.op("sum", {x}, {{"axis", axes}, {"keepdims", true}}));
  }
  return c.term(c.reshape(x, std::move(to)));
}

/// Returns the zero point in the stored dtype if it is a constant that fits; TFLite's importer in TVM writes int32.
/// Any other zero point is returned unchanged.
Value* narrow_zero_point(TvmCall& c, Value* zero, DType stored) {
  if (zero->dtype() == stored || !zero->dtype().is_integer()) return zero;
  bool constant = zero->op != nullptr && zero->op->kind == relax::OpKind::kConstant && zero->shape().empty();
  if (!constant || !stored.is_integer()) return zero;
  int64_t number = relax::decode_integer(zero->dtype(), zero->op->constant->to_vector().data());
  if (arith::wrap_to_dtype(number, stored) != number) return zero;
  return c.build().scalar(stored, static_cast<double>(number));
}

/// Returns a vector reshaped to lie along an axis of x, with 1 for the other dims.
Result<Value*> along_axis(TvmCall& c, Value* vector, Value* x, int64_t axis) {
  if (vector->shape().size() != 1) return vector;
  auto rank = static_cast<int64_t>(x->shape().size());
  std::vector<arith::Expr> dims(static_cast<size_t>(rank), c.context().index(1));
  if (rank > 0) dims[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = vector->shape()[0];
  return c.reshape(vector, std::move(dims));
}

/// Quantizes with a zero point that is wider than the stored dtype: round(x / scale) + zero_point, clipped.
Result<Value*> quantize_wide(TvmCall& c, Value* x, Value* scale, Value* zero, int64_t axis, DType stored) {
  RELAXC_TRY(zero, c.cast(zero, x->dtype()));
  RELAXC_TRY(scale, along_axis(c, scale, x, axis));
  RELAXC_TRY(zero, along_axis(c, zero, x, axis));
  RELAXC_TRY(x, c.op("divide", {x, scale}));
  RELAXC_TRY(x, c.op("round", {x}));
  RELAXC_TRY(x, c.op("add", {x, zero}));
  return c.cast(x, stored);  // the cast saturates
}

/// quantize(data, scale, zero_point, axis, out_dtype): of the zero point's dtype where neither the call nor its
/// annotation says another.
Result<Term> quantize(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * scale, c.tensor("scale"));
  RELAXC_TRY(int64_t axis, c.integer("axis", -1));
  std::vector<Value*> operands = {x, scale};
  DType stored = c.expected_dtype().value_or(DType::i(8));
  Value* zero = nullptr;
  if (c.has("zero_point")) {
    RELAXC_TRY(zero, c.element("zero_point", stored));
    stored = zero->dtype();
  }
  RELAXC_TRY(DType dtype, c.dtype("out_dtype", stored));
  if (zero != nullptr) {
    zero = narrow_zero_point(c, zero, dtype);
    if (zero->dtype() != dtype && x->dtype().is_float() && dtype.is_integer())
      return c.term(quantize_wide(c, x, scale, zero, axis, dtype));
    operands.push_back(zero);
  }
  return c.term(c.op("quantize", std::move(operands), {{"axis", axis}, {"out_dtype", dtype}}));
}

/// dequantize(data, scale, zero_point, axis, out_dtype)
Result<Term> dequantize(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * scale, c.tensor("scale"));
  RELAXC_TRY(int64_t axis, c.integer("axis", -1));
  RELAXC_TRY(DType dtype, c.dtype("out_dtype", scale->dtype()));
  std::vector<Value*> operands = {x, scale};
  if (c.has("zero_point")) {
    RELAXC_TRY(Value * zero, c.element("zero_point", x->dtype()));
    zero = narrow_zero_point(c, zero, x->dtype());
    operands.push_back(zero);
    if (zero->dtype() != x->dtype() && x->dtype().is_integer()) {  // the zero point has another dtype
      RELAXC_TRY(zero, along_axis(c, zero, x, axis));
      RELAXC_TRY(scale, along_axis(c, scale, x, axis));
      RELAXC_TRY(Value * wide, c.cast(x, zero->dtype()));
      RELAXC_TRY(wide, c.op("subtract", {wide, zero}));
      RELAXC_TRY(wide, c.cast(wide, scale->dtype()));
      RELAXC_TRY(wide, c.op("multiply", {wide, scale}));
      return c.term(c.cast(wide, dtype));
    }
  }
  RELAXC_TRY(Value * real, c.op("dequantize", std::move(operands), {{"axis", axis}}));
  return c.term(c.cast(real, dtype));
}

constexpr TvmOperator kTensorRows[] = {
    {"clip", "x, min, max", clip},
    {"full", "shape, fill_value, dtype", full},
    {"full_like", "x, fill_value, dtype", full},
    {"tile", "x, repeats", tile},
    {"zeros_like", "x, dtype", filled_like},
    {"ones_like", "x, dtype", filled_like},
    {"arange", "start, end, step, dtype", arange},
    {"eye", "n, m, k, dtype", eye},
    {"eye_like", "x, k, dtype", eye},
    {"tril", "x, k", triangle},
    {"triu", "x, k", triangle},
    {"argmax", "x, axis, keepdims, select_last", arg_extremum},
    {"argmin", "x, axis, keepdims, select_last", arg_extremum},
    {"squeeze", "x, axis", squeeze},
    {"prod", "x, axis, keepdims, none_is_all", reduced},
    {"sum", "x, axis, keepdims, none_is_all", reduced},
    {"cumsum", "data, axis, dtype, exclusive, reverse", cumulate},
    {"cumprod", "data, axis, dtype, exclusive, reverse", cumulate},
    {"linear", "data, weight, bias, out_dtype", linear},
    {"outer", "x1, x2", outer},
    {"ewise_fma", "x1, x2, x3", multiply_add},
    {"log_add_exp", "x1, x2", log_add_exp},
    {"collapse_sum_to", "data, shape", collapse_sum},
    {"collapse_sum_like", "data, target", collapse_sum},
    {"quantize", "data, scale, zero_point, axis, out_dtype", quantize},
    {"dequantize", "data, scale, zero_point, axis, out_dtype", dequantize},
};

}  // namespace

std::span<const TvmOperator> tvm_tensor_operators() {
  return kTensorRows;
}

}  // namespace relaxc::frontend
