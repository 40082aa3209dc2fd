// tvm_tensor_ops.cpp: TVM's operators that make, cut, order and combine tensors, as operators of relaxc.
//
// Each function says in its comment what TVM writes; what it does not name has its default.
#include <cmath>

#include "frontends/relax/tvm_call.h"

namespace relaxc::frontend {
namespace {

using relax::Value;
using Expr = arith::Expr;
using Exprs = std::vector<Expr>;
using Ints = TvmCall::Ints;

Result<Term> term(Result<Value*> made, Diagnostics& diag) {
  RELAXC_TRY(Value * value, std::move(made));
  return Term::of(value);
}

Result<Value*> flat(TvmCall& c, Value* x) {
  return c.op("flatten", {x});
}

/// clip(x, min, max)
Result<Term> clip(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(Value * low, c.element("min", x->dtype()));
  RELAXC_TRY(Value * high, c.element("max", x->dtype()));
  RELAXC_TRY(x, c.op("maximum", {x, low}));
  return term(c.op("minimum", {x, high}), diag);
}

/// full(shape, fill_value, dtype); full_like(x, fill_value, dtype)
Result<Term> full(TvmCall& c) {
  Diagnostics& diag = c.diag;
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
  return term(c.op("full", {shape, value}), diag);
}

/// zeros_like(x, dtype), ones_like(x, dtype)
Result<Term> filled_like(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(DType dtype, c.dtype("dtype", x->dtype()));
  return term(c.op(c.name == "zeros_like" ? "zeros" : "ones", {c.build().shape(x->shape())}, {{"dtype", dtype}}), diag);
}

/// arange(start, end, step, dtype) of floats.
Result<Term> real_range(TvmCall& c, std::string_view first, std::string_view last) {
  Diagnostics& diag = c.diag;
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
  return term(c.op("range_of", {b.scalar(dtype, start), b.scalar(dtype, step), extent}), diag);
}

/// arange(start, end, step, dtype) of integers, dims or floats; of one number: from 0 to it.
Result<Term> arange(TvmCall& c) {
  Diagnostics& diag = c.diag;
  if (c.is_shape("start")) {
    RELAXC_TRY(DType dtype, c.dtype("dtype", DType::i(64)));
    RELAXC_TRY(Value * bounds, c.value("start"));
    return term(c.op("arange", {bounds}, {{"dtype", dtype}}), diag);
  }
  bool one = !c.has("end");
  std::string_view first = one ? "" : "start", last = one ? "start" : "end";
  if (c.is_real("start") || c.is_real("end") || c.is_real("step")) return real_range(c, first, last);
  Expr zero = c.context().index(0);
  RELAXC_TRY(Expr start, c.index(first, zero));
  RELAXC_TRY(Expr end, c.index(last, zero));
  RELAXC_TRY(int64_t step, c.integer("step", 1));
  RELAXC_TRY(DType dtype, c.dtype("dtype", DType::i(64)));
  if (step == 0 || step == INT64_MIN) return c.error("step", Kind::invalid_value, "R.arange steps by {}", step);
  Expr stride = c.context().index(std::abs(step)), distance = step > 0 ? end - start : start - end;
  Expr count = arith::simplify(arith::max(arith::floordiv(distance + stride - c.context().index(1), stride), zero));
  return term(c.op("arange", {c.build().shape({start, count, c.context().index(step)})}, {{"dtype", dtype}}), diag);
}

/// eye(n, m, k, dtype), eye_like(x, k, dtype)
Result<Term> eye(TvmCall& c) {
  Diagnostics& diag = c.diag;
  DType fallback = DType::f(32);
  Value* shape = nullptr;
  if (c.name == "eye_like") {
    RELAXC_TRY(Value * x, c.tensor("x"));
    shape = c.build().shape(x->shape());
    fallback = x->dtype();
  } else if (c.is_shape("n")) {
    RELAXC_TRY(shape, c.value("n"));
  } else {
    RELAXC_TRY(Expr rows, c.index("n", c.context().index(0)));
    RELAXC_TRY(Expr columns, c.index("m", rows));
    shape = c.build().shape({rows, columns});
  }
  RELAXC_TRY(DType dtype, c.dtype("dtype", fallback));
  RELAXC_TRY(int64_t k, c.integer("k", 0));
  return term(c.op("eye", {shape}, {{"k", k}, {"dtype", dtype}}), diag);
}

/// tril(x, k), triu(x, k)
Result<Term> triangle(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(Expr k, c.index("k", c.context().index(0)));
  return term(c.op("trilu", {x, c.build().shape({k})}, {{"upper", c.name == "triu"}}), diag);
}

/// argmax(x, axis, keepdims): over all elements where there is no axis.
Result<Term> arg_extremum(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(bool keepdims, c.flag("keepdims", false));
  RELAXC_TRY(bool last, c.flag("select_last", false));
  size_t rank = x->shape().size();
  if (c.has("axis")) {
    RELAXC_TRY(int64_t axis, c.integer("axis", 0));
    return term(c.op(c.name, {x}, {{"axis", axis}, {"keepdims", keepdims}, {"select_last", last}}), diag);
  }
  RELAXC_TRY(x, flat(c, x));
  RELAXC_TRY(x, c.op(c.name, {x}, {{"axis", int64_t{0}}, {"select_last", last}}));
  return term(keepdims ? c.reshape(x, Exprs(rank, c.context().index(1))) : Result<Value*>(x), diag);
}

/// cumsum(data, axis, dtype, exclusive), cumprod: of all elements where there is no axis.
Result<Term> cumulate(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(DType dtype, c.dtype("dtype", x->dtype()));
  RELAXC_TRY(x, c.cast(x, dtype));
  RELAXC_TRY(int64_t axis, c.integer("axis", 0));
  RELAXC_TRY(bool exclusive, c.flag("exclusive", false));
  RELAXC_TRY(bool reverse, c.flag("reverse", false));
  if (!c.has("axis")) {
    RELAXC_TRY(x, flat(c, x));
  }
  return term(c.op(c.name, {x}, {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}}), diag);
}

/// strided_slice(x, axes, begin, end, strides), with numbers; dynamic_strided_slice(x, begin, end, strides), with
/// tensors.
Result<Term> slice(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * x, c.tensor("x"));
  std::vector<Value*> operands = {x};
  Ints axes;
  if (c.name == "strided_slice") {
    RELAXC_TRY(axes, c.ints("axes", {}));
  } else {
    for (size_t i = 0; i < x->shape().size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  for (std::string_view param : {"begin", "end", "strides"}) {
    if (param == "strides" && !c.has(param)) break;
    RELAXC_TRY(Value * bound, c.value(param));
    if (bound->info->as<relax::TensorInfo>() != nullptr) {
      RELAXC_TRY(bound, c.op("tensor_to_shape", {bound}));
    }
    operands.push_back(bound);
  }
  return term(c.op("strided_slice", std::move(operands), {{"axes", axes}}), diag);
}

/// linear(data, weight, bias, out_dtype)
Result<Term> linear(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * weight, c.tensor("weight"));
  RELAXC_TRY(DType dtype, c.dtype("out_dtype", x->dtype()));
  RELAXC_TRY(weight, c.op("permute_dims", {weight}));
  relax::Attrs attrs;
  if (dtype != x->dtype()) attrs.set("out_dtype", to_string(dtype));
  RELAXC_TRY(Value * product, c.op("matmul", {x, weight}, std::move(attrs)));
  if (!c.has("bias")) return Term::of(product);
  RELAXC_TRY(Value * bias, c.tensor("bias"));
  return term(c.op("add", {product, bias}), diag);
}

/// outer(x1, x2)
Result<Term> outer(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * a, c.tensor("x1"));
  RELAXC_TRY(Value * b, c.tensor("x2"));
  RELAXC_TRY(a, c.op("expand_dims", {a}, {{"axis", Ints{1}}}));
  RELAXC_TRY(b, c.op("expand_dims", {b}, {{"axis", Ints{0}}}));
  return term(c.op("multiply", {a, b}), diag);
}

/// split(x, indices_or_sections, axis)
Result<Term> split(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(int64_t axis, c.integer("axis", 0));
  relax::Attrs attrs{{"axis", axis}};
  std::vector<Value*> operands = {x};
  bool own = !c.has("indices_or_sections") || c.is_shape("indices_or_sections");
  if (own && c.has("indices_or_sections")) {
    RELAXC_TRY(Value * sizes, c.value("indices_or_sections"));
    operands.push_back(sizes);
  }
  std::string_view sections = own ? "sections" : "indices_or_sections";
  std::string_view indices = own ? "indices" : "indices_or_sections";
  if (c.is_number(sections)) {
    RELAXC_TRY(int64_t count, c.integer(sections, 0));
    attrs.set("sections", count);
  } else if (c.has(indices)) {
    RELAXC_TRY(Ints cuts, c.ints(indices, {}));
    attrs.set("indices", cuts);
  }
  RELAXC_TRY(std::vector<Value*> parts, c.build().call_many("split", std::move(operands), std::move(attrs)));
  if (own && parts.size() == 1) return Term::of(parts[0]);
  std::vector<Term> terms;
  for (Value* part : parts) terms.push_back(Term::of(part));
  return Term::sequence(std::move(terms));
}

/// repeat(data, repeats, axis): of all elements where there is no axis.
Result<Term> repeat(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(int64_t repeats, c.integer("repeats", 1));
  RELAXC_TRY(int64_t axis, c.integer("axis", 0));
  if (!c.has("axis")) {
    RELAXC_TRY(x, flat(c, x));
  }
  return term(c.op("repeat", {x}, {{"repeats", repeats}, {"axis", axis}}), diag);
}

/// ewise_fma(x1, x2, x3)
Result<Term> multiply_add(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * a, c.tensor("x1"));
  RELAXC_TRY(Value * b, c.tensor("x2"));
  RELAXC_TRY(Value * d, c.tensor("x3"));
  RELAXC_TRY(a, c.op("multiply", {a, b}));
  return term(c.op("add", {a, d}), diag);
}

/// log_add_exp(x1, x2): log(exp(x1) + exp(x2)) without overflow.
Result<Term> log_add_exp(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * a, c.tensor("x1"));
  RELAXC_TRY(Value * b, c.tensor("x2"));
  RELAXC_TRY(Value * top, c.op("maximum", {a, b}));
  for (Value** x : {&a, &b}) {
    RELAXC_TRY(*x, c.op("subtract", {*x, top}));
    RELAXC_TRY(*x, c.op("exp", {*x}));
  }
  RELAXC_TRY(Value * sum, c.op("add", {a, b}));
  RELAXC_TRY(sum, c.op("log", {sum}));
  return term(c.op("add", {top, sum}), diag);
}

/// topk(data, k, axis, ret_type, largest, dtype); with k as a shape value the positions are int64.
Result<Term> topk(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(int64_t axis, c.integer("axis", -1));
  RELAXC_TRY(bool largest, c.flag("largest", true));
  RELAXC_TRY(std::string wanted, c.text("ret_type", "both"));
  bool own = c.is_shape("k");
  RELAXC_TRY(DType dtype, c.dtype("dtype", own ? DType::i(64) : DType::i(32)));
  RELAXC_TRY(Expr count, own ? Result<Expr>(Expr()) : c.index("k", c.context().index(1)));
  RELAXC_TRY(Value * k, own ? c.value("k") : Result<Value*>(c.build().shape({count})));
  if (wanted != "both" && wanted != "values" && wanted != "indices")
    return c.error("ret_type", Kind::invalid_attribute, "ret_type is \"both\", \"values\" or \"indices\"");
  RELAXC_TRY(std::vector<Value*> results,
             c.build().call_many("topk", {x, k}, {{"axis", axis}, {"largest", largest}}));
  if (wanted == "values") return Term::of(results[0]);
  RELAXC_TRY(results[1], c.cast(results[1], dtype));
  if (wanted == "indices") return Term::of(results[1]);
  return Term::sequence({Term::of(results[0]), Term::of(results[1])});
}

/// argsort(data, axis, descending, dtype): int32 where neither the call nor its annotation says otherwise.
Result<Term> argsort(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(int64_t axis, c.integer("axis", -1));
  RELAXC_TRY(bool descending, c.flag("descending", false));
  RELAXC_TRY(DType dtype, c.dtype("dtype", c.wanted_dtype().value_or(DType::i(32))));
  RELAXC_TRY(x, c.op("argsort", {x}, {{"axis", axis}, {"descending", descending}}));
  return term(c.cast(x, dtype), diag);
}

/// one_hot(indices, on_value, off_value, depth, axis)
Result<Term> one_hot(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * indices, c.tensor("indices"));
  RELAXC_TRY(int64_t axis, c.integer("axis", -1));
  DType dtype = c.is_number("on_value") && !c.is_real("on_value") ? DType::i(64) : DType::f(32);
  RELAXC_TRY(Value * on, c.element("on_value", dtype));
  RELAXC_TRY(Value * off, c.element("off_value", on->dtype()));
  RELAXC_TRY(Expr depth, c.is_shape("depth") ? Result<Expr>(Expr()) : c.index("depth", c.context().index(0)));
  RELAXC_TRY(Value * extent, c.is_shape("depth") ? c.value("depth") : Result<Value*>(c.build().shape({depth})));
  return term(c.op("one_hot", {indices, on, off, extent}, {{"axis", axis}}), diag);
}

/// scatter_elements(data, indices, updates, axis, reduction), scatter_nd(data, indices, updates, reduction)
Result<Term> scatter(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * indices, c.tensor("indices"));
  RELAXC_TRY(Value * updates, c.tensor("updates"));
  RELAXC_TRY(std::string reduction, c.text("reduction", "none"));
  relax::Attrs attrs{{"reduction", reduction == "update" ? "none" : reduction}};
  if (c.name == "scatter_elements") {
    RELAXC_TRY(int64_t axis, c.integer("axis", 0));
    attrs.set("axis", axis);
  }
  return term(c.op(c.name, {x, indices, updates}, std::move(attrs)), diag);
}

/// Tensors of subscripts as one, with the subscripts of an element side by side.
Result<Value*> stacked_indices(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(std::vector<Value*> indices, c.values("indices"));
  for (Value*& one : indices) {
    RELAXC_TRY(one, c.cast(one, DType::i(64)));
  }
  return c.op("stack", std::move(indices), {{"axis", int64_t{-1}}});
}

/// index_tensor(data, indices): data[i, j, …] of index tensors of one shape.
Result<Term> index_tensor(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * indices, stacked_indices(c));
  return term(c.op("gather_nd", {x, indices}), diag);
}

/// index_put(data, indices, values, accumulate)
Result<Term> index_put(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * indices, stacked_indices(c));
  RELAXC_TRY(Value * values, c.tensor("values"));
  RELAXC_TRY(bool accumulate, c.flag("accumulate", false));
  return term(c.op("scatter_nd", {x, indices, values}, {{"reduction", std::string(accumulate ? "add" : "none")}}), diag);
}

/// masked_fill(x, mask, value)
Result<Term> masked_fill(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(Value * mask, c.tensor("mask"));
  RELAXC_TRY(Value * value, c.element("value", x->dtype()));
  return term(c.op("where", {mask, value, x}), diag);
}

/// collapse_sum_to(data, shape), collapse_sum_like(data, target): the sum that undoes a broadcast.
Result<Term> collapse_sum(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(Value * x, c.tensor("data"));
  Exprs to;
  if (c.name == "collapse_sum_to") {
    RELAXC_TRY(to, c.dims("shape"));
  } else {
    RELAXC_TRY(Value * target, c.tensor("target"));
    to = target->shape();
  }
  size_t rank = x->shape().size();
  if (to.size() > rank)
    return c.error("data", Kind::rank_mismatch, "R.{} of {} dims to {}", c.name, rank, to.size());
  Ints axes;
  for (size_t i = 0; i < rank; ++i) {
    bool added = i + to.size() < rank;
    if (added || (to[i + to.size() - rank].is_constant(1) && !x->shape()[i].is_constant(1)))
      axes.push_back(static_cast<int64_t>(i));
  }
  if (!axes.empty()) {
    RELAXC_TRY(x, c.op("sum", {x}, {{"axis", axes}, {"keepdims", true}}));
  }
  return term(c.reshape(x, std::move(to)), diag);
}

/// meshgrid(tensors, indexing)
Result<Term> meshgrid(TvmCall& c) {
  Diagnostics& diag = c.diag;
  RELAXC_TRY(std::vector<Value*> tensors, c.values("tensors"));
  RELAXC_TRY(std::string indexing, c.text("indexing", "ij"));
  if (indexing != "ij")
    return c.error("indexing", Kind::unsupported, "R.meshgrid knows indexing=\"ij\", found \"{}\"", indexing);
  Exprs all;
  for (Value* tensor : tensors) {
    const auto* info = tensor->info->as<relax::TensorInfo>();
    if (info == nullptr || !info->shape || info->ndim != 1)
      return c.error("tensors", Kind::rank_mismatch, "R.meshgrid takes vectors, found {}", relax::to_string(tensor->info));
    all.push_back((*info->shape)[0]);
  }
  std::vector<Term> grids;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Exprs own(tensors.size(), c.context().index(1));
    own[i] = all[i];
    RELAXC_TRY(Value * column, c.reshape(tensors[i], std::move(own)));
    RELAXC_TRY(Value * grid, c.op("broadcast_to", {column, c.build().shape(all)}));
    grids.push_back(Term::of(grid));
  }
  return Term::sequence(std::move(grids));
}

constexpr TvmOperator kRows[] = {
    {"clip", "x, min, max", clip},
    {"full", "shape, fill_value, dtype", full},
    {"full_like", "x, fill_value, dtype", full},
    {"zeros_like", "x, dtype", filled_like},
    {"ones_like", "x, dtype", filled_like},
    {"arange", "start, end, step, dtype", arange},
    {"eye", "n, m, k, dtype", eye},
    {"eye_like", "x, k, dtype", eye},
    {"tril", "x, k", triangle},
    {"triu", "x, k", triangle},
    {"argmax", "x, axis, keepdims, select_last", arg_extremum},
    {"argmin", "x, axis, keepdims, select_last", arg_extremum},
    {"cumsum", "data, axis, dtype, exclusive, reverse", cumulate},
    {"cumprod", "data, axis, dtype, exclusive, reverse", cumulate},
    {"strided_slice", "x, axes, begin, end, strides, assume_inbound", slice, "axes"},
    {"dynamic_strided_slice", "x, begin, end, strides", slice},
    {"linear", "data, weight, bias, out_dtype", linear},
    {"outer", "x1, x2", outer},
    {"split", "x, indices_or_sections, axis, sections, indices", split},
    {"repeat", "data, repeats, axis", repeat},
    {"ewise_fma", "x1, x2, x3", multiply_add},
    {"log_add_exp", "x1, x2", log_add_exp},
    {"topk", "data, k, axis, ret_type, largest, dtype", topk},
    {"argsort", "data, axis, descending, dtype", argsort},
    {"one_hot", "indices, on_value, off_value, depth, axis", one_hot},
    {"scatter_elements", "data, indices, updates, axis, reduction", scatter},
    {"scatter_nd", "data, indices, updates, reduction", scatter},
    {"index_tensor", "data, indices", index_tensor},
    {"index_put", "data, indices, values, accumulate", index_put},
    {"masked_fill", "x, mask, value", masked_fill},
    {"collapse_sum_to", "data, shape", collapse_sum},
    {"collapse_sum_like", "data, target", collapse_sum},
    {"meshgrid", "tensors, indexing", meshgrid},
};

}  // namespace

std::span<const TvmOperator> tvm_tensor_operators() {
  return kRows;
}

}  // namespace relaxc::frontend
