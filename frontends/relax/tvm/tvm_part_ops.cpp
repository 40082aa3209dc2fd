// tvm_part_ops.cpp: converts TVM's operators that read, write, order and repeat parts of tensors.
//
// The comment of each function begins with TVM's form of the call; parameters that it omits have their default.
#include "frontends/relax/tvm/tvm_names.h"

namespace relaxc::frontend {
namespace {

using namespace tvm_names;

/// strided_slice(x, axes, begin, end, strides), with numbers; dynamic_strided_slice(x, begin, end, strides), with
/// tensors.
Result<Term> slice(TvmCall& c) {
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
  return c.term(c.op("strided_slice", std::move(operands), {{"axes", axes}}));
}

/// split(x, indices_or_sections, axis)
Result<Term> split(TvmCall& c) {
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
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(int64_t repeats, c.integer("repeats", 1));
  RELAXC_TRY(int64_t axis, c.integer("axis", 0));
  if (!c.has("axis")) {
    RELAXC_TRY(x, c.op("flatten", {x}));
  }
  return c.term(c.op("repeat", {x}, {{"repeats", repeats}, {"axis", axis}}));
}

/// topk(data, k, axis, ret_type, largest, dtype); with k as a shape value the positions are int64.
Result<Term> topk(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(int64_t axis, c.integer("axis", -1));
  RELAXC_TRY(bool largest, c.flag("largest", true));
  RELAXC_TRY(std::string wanted, c.text("ret_type", "both"));
  bool own = c.is_shape("k");
  RELAXC_TRY(DType dtype, c.dtype("dtype", own ? DType::i(64) : DType::i(32)));
  RELAXC_TRY(arith::Expr count, own ? Result<arith::Expr>(arith::Expr()) : c.index("k", c.context().index(1)));
  RELAXC_TRY(Value * k, own ? c.value("k") : Result<Value*>(c.build().shape({count})));
  if (wanted != "both" && wanted != "values" && wanted != "indices")
    return c.error("ret_type", Kind::invalid_attribute, "ret_type is \"both\", \"values\" or \"indices\"");
  RELAXC_TRY(std::vector<Value*> results, c.build().call_many("topk", {x, k}, {{"axis", axis}, {"largest", largest}}));
  if (wanted == "values") return Term::of(results[0]);
  RELAXC_TRY(results[1], c.cast(results[1], dtype));
  if (wanted == "indices") return Term::of(results[1]);
  return Term::sequence({Term::of(results[0]), Term::of(results[1])});
}

/// argsort(data, axis, descending, dtype): int32 where neither the call nor its annotation says otherwise.
Result<Term> argsort(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(int64_t axis, c.integer("axis", -1));
  RELAXC_TRY(bool descending, c.flag("descending", false));
  RELAXC_TRY(DType dtype, c.dtype("dtype", c.expected_dtype().value_or(DType::i(32))));
  RELAXC_TRY(x, c.op("argsort", {x}, {{"axis", axis}, {"descending", descending}}));
  return c.term(c.cast(x, dtype));
}

/// one_hot(indices, on_value, off_value, depth, axis)
Result<Term> one_hot(TvmCall& c) {
  RELAXC_TRY(Value * indices, c.tensor("indices"));
  RELAXC_TRY(int64_t axis, c.integer("axis", -1));
  DType dtype = c.is_number("on_value") && !c.is_real("on_value") ? DType::i(64) : DType::f(32);
  RELAXC_TRY(Value * on, c.element("on_value", dtype));
  RELAXC_TRY(Value * off, c.element("off_value", on->dtype()));
  RELAXC_TRY(arith::Expr depth,
             c.is_shape("depth") ? Result<arith::Expr>(arith::Expr()) : c.index("depth", c.context().index(0)));
  RELAXC_TRY(Value * extent, c.is_shape("depth") ? c.value("depth") : Result<Value*>(c.build().shape({depth})));
  return c.term(c.op("one_hot", {indices, on, off, extent}, {{"axis", axis}}));
}

/// scatter_elements(data, indices, updates, axis, reduction), scatter_nd(data, indices, updates, reduction)
Result<Term> scatter(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * indices, c.tensor("indices"));
  RELAXC_TRY(Value * updates, c.tensor("updates"));
  RELAXC_TRY(std::string reduction, c.text("reduction", "none"));
  relax::Attrs attrs{{"reduction", reduction == "update" ? "none" : reduction}};
  if (c.name == "scatter_elements") {
    RELAXC_TRY(int64_t axis, c.integer("axis", 0));
    attrs.set("axis", axis);
  }
  return c.term(c.op(c.own_name(), {x, indices, updates}, std::move(attrs)));
}

/// slice_scatter(input_tensor, src, start, end, step, axis): src written over a slice.
Result<Term> slice_scatter(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("input_tensor"));
  RELAXC_TRY(Value * part, c.tensor("src"));
  RELAXC_TRY(arith::Expr start, c.index("start", c.context().index(0)));
  RELAXC_TRY(int64_t step, c.integer("step", 1));
  RELAXC_TRY(int64_t axis, c.integer("axis", 0));
  auto rank = static_cast<int64_t>(x->shape().size());
  if (axis < -rank || axis >= rank || part->shape().size() != x->shape().size())
    return c.error("axis", Kind::invalid_attribute, "{} of {} along axis {} of {}", c.spelled,
                   relax::to_string(part->info), axis, relax::to_string(x->info));
  auto along = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  if (start.constant() != nullptr && *start.constant() < 0) start = start + x->shape()[along];
  relax::GraphBuilder& b = c.build();
  RELAXC_TRY(Value * places, c.op("arange", {b.shape({start, part->shape()[along], c.context().index(step)})}));
  Exprs column(x->shape().size(), c.context().index(1));
  column[along] = part->shape()[along];
  RELAXC_TRY(places, c.reshape(places, std::move(column)));
  RELAXC_TRY(places, c.op("broadcast_to", {places, b.shape(part->shape())}));
  return c.term(c.op("scatter_elements", {x, places, part}, {{"axis", axis}}));
}

/// Returns the shape that two shapes broadcast to, where they do; broadcast_to reports where they do not.
Exprs joint_shape(const Exprs& a, const Exprs& b) {
  if (a.size() < b.size()) return joint_shape(b, a);
  Exprs joint = a;
  for (size_t i = 0; i < b.size(); ++i) {
    arith::Expr& dim = joint[a.size() - b.size() + i];
    if (dim.is_constant(1)) dim = b[i];
  }
  return joint;
}

/// Returns x with the shape `dims`, which it broadcasts to.
Result<Value*> broadcast(TvmCall& c, Value* x, const Exprs& dims) {
  bool same = x->shape().size() == dims.size();
  for (size_t i = 0; same && i < dims.size(); ++i) same = arith::prove_equal(x->shape()[i], dims[i]);
  return same ? Result<Value*>(x) : c.op("broadcast_to", {x, c.build().shape(dims)});
}

/// Returns index tensors as one tensor, with an element's subscripts along the last dim. Those of different shapes
/// broadcast.
Result<Value*> stacked_indices(TvmCall& c) {
  RELAXC_TRY(std::vector<Value*> indices, c.values("indices"));
  Exprs all;
  for (Value*& one : indices) {
    const auto* info = one->info->as<relax::TensorInfo>();
    if (info == nullptr || !info->shape || !info->dtype)
      return c.error("indices", Kind::dtype_mismatch, "{} takes tensors of known shape and dtype, found {}", c.spelled,
                     relax::to_string(one->info));
    RELAXC_TRY(one, c.cast(one, DType::i(64)));
    all = joint_shape(all, one->shape());
  }
  for (Value*& one : indices) {
    RELAXC_TRY(one, broadcast(c, one, all));
  }
  return c.op("stack", std::move(indices), {{"axis", int64_t{-1}}});
}

/// index_tensor(data, indices): data[i, j, …] of index tensors.
Result<Term> index_tensor(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * indices, stacked_indices(c));
  return c.term(c.op("gather_nd", {x, indices}));
}

/// index_put(data, indices, values, accumulate)
Result<Term> index_put(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * indices, stacked_indices(c));
  RELAXC_TRY(Value * values, c.tensor("values"));
  RELAXC_TRY(bool accumulate, c.flag("accumulate", false));
  Exprs places(indices->shape().begin(), indices->shape().end() - 1);
  const int64_t* subscripts = indices->shape().back().constant();
  for (size_t axis = static_cast<size_t>(*subscripts); axis < x->shape().size(); ++axis)
    places.push_back(x->shape()[axis]);
  RELAXC_TRY(values, broadcast(c, values, places));
  return c.term(c.op("scatter_nd", {x, indices, values}, {{"reduction", std::string(accumulate ? "add" : "none")}}));
}

/// masked_fill(x, mask, value)
Result<Term> masked_fill(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(Value * mask, c.tensor("mask"));
  RELAXC_TRY(Value * value, c.element("value", x->dtype()));
  return c.term(c.op("where", {mask, value, x}));
}

/// meshgrid(tensors, indexing)
Result<Term> meshgrid(TvmCall& c) {
  RELAXC_TRY(std::vector<Value*> tensors, c.values("tensors"));
  RELAXC_TRY(std::string indexing, c.text("indexing", "ij"));
  if (indexing != "ij" && indexing != "xy")
    return c.error("indexing", Kind::invalid_attribute, "indexing is \"ij\" or \"xy\", found \"{}\"", indexing);
  Exprs all;
  for (Value* tensor : tensors) {
    const auto* info = tensor->info->as<relax::TensorInfo>();
    if (info == nullptr || !info->shape || info->ndim != 1)
      return c.error("tensors", Kind::rank_mismatch, "R.meshgrid takes vectors, found {}",
                     relax::to_string(tensor->info));
    all.push_back((*info->shape)[0]);
  }
  // "xy": the first vector varies along the second axis, and the second along the first.
  const bool swapped = indexing == "xy" && tensors.size() > 1;
  auto axis_of = [&](size_t i) { return swapped && i < 2 ? 1 - i : i; };
  if (swapped) std::swap(all[0], all[1]);
  std::vector<Term> grids;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Exprs own(tensors.size(), c.context().index(1));
    own[axis_of(i)] = all[axis_of(i)];
    RELAXC_TRY(Value * column, c.reshape(tensors[i], std::move(own)));
    RELAXC_TRY(Value * grid, c.op("broadcast_to", {column, c.build().shape(all)}));
    grids.push_back(Term::of(grid));
  }
  return Term::sequence(std::move(grids));
}

/// vision.all_class_non_max_suppression(boxes, scores, max_output_boxes_per_class, iou_threshold, score_threshold,
/// output_format): as many rows as there may be, zeros after those that are found, and how many are.
Result<Term> suppress(TvmCall& c) {
  RELAXC_TRY(std::string format, c.text("output_format", "onnx"));
  if (format != "onnx")
    return c.error("output_format", Kind::unsupported, "{} knows output_format=\"onnx\", found \"{}\"", c.spelled,
                   format);
  RELAXC_TRY(Value * boxes, c.tensor("boxes"));
  RELAXC_TRY(Value * scores, c.tensor("scores"));
  std::vector<Value*> operands = {boxes, scores};
  if (c.is_number("max_output_boxes_per_class")) {
    RELAXC_TRY(arith::Expr most, c.index("max_output_boxes_per_class", c.context().index(0)));
    operands.push_back(c.build().shape({most}));
  } else {
    RELAXC_TRY(Value * most, c.value("max_output_boxes_per_class"));
    RELAXC_TRY(most, c.op("tensor_to_shape", {most}));
    operands.push_back(most);
  }
  for (std::string_view param : {"iou_threshold", "score_threshold"}) {
    RELAXC_TRY(Value * threshold, c.element(param, scores->dtype()));
    RELAXC_TRY(threshold, c.reshape(threshold, {}));
    operands.push_back(threshold);
  }
  RELAXC_TRY(Value * rows, c.op("non_max_suppression", std::move(operands)));
  arith::Expr found = rows->shape()[0], zero = c.context().index(0);
  arith::Expr all = scores->shape()[0] * scores->shape()[1] * scores->shape()[2];
  RELAXC_TRY(Value * padded, c.op("pad", {rows, c.build().shape({zero, zero, all - found, zero})}));
  RELAXC_TRY(Value * total, c.op("shape_to_tensor", {c.build().shape({found})}));
  return Term::sequence({Term::of(padded), Term::of(total)});
}

constexpr TvmOperator kPartRows[] = {
    {"vision.all_class_non_max_suppression",
     "boxes, scores, max_output_boxes_per_class, iou_threshold, score_threshold, output_format", suppress},
    {"strided_slice", "x, axes, begin, end, strides, assume_inbound", slice, "axes"},
    {"dynamic_strided_slice", "x, begin, end, strides", slice},
    {"split", "x, indices_or_sections, axis, sections, indices", split},
    {"repeat", "data, repeats, axis", repeat},
    {"topk", "data, k, axis, ret_type, largest, dtype", topk},
    {"argsort", "data, axis, descending, dtype", argsort},
    {"one_hot", "indices, on_value, off_value, depth, axis", one_hot},
    {"scatter_elements", "data, indices, updates, axis, reduction", scatter},
    {"scatter_nd", "data, indices, updates, reduction", scatter},
    {"slice_scatter", "input_tensor, src, start, end, step, axis", slice_scatter},
    {"index_tensor", "data, indices", index_tensor},
    {"index_put", "data, indices, values, accumulate", index_put},
    {"masked_fill", "x, mask, value", masked_fill},
    {"meshgrid", "tensors, indexing", meshgrid},
};

}  // namespace

std::span<const TvmOperator> tvm_part_operators() {
  return kPartRows;
}

}  // namespace relaxc::frontend
