// parts.cpp: operators that gather, scatter and slice.
#include <algorithm>
#include <limits>

#include "frontends/relay/sizes.h"

namespace relaxc::relay::parts_family {
namespace {

/// Moves the first axis to the end: Relay has the index tuples of gather_nd and scatter_nd there, relaxc at the end.
Result<Value*> first_axis_last(TvmCall& c, Value* indices) {
  Ints axes;
  for (size_t i = 1; i < indices->shape().size(); ++i) axes.push_back(static_cast<int64_t>(i));
  axes.push_back(0);
  return c.permute(indices, axes);
}

/// take(data, indices, batch_dims, axis, mode): without an axis, data is flattened; by default, indices are clipped.
Result<Term> take(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * indices, c.tensor("indices"));
  RELAXC_TRY(int64_t axis, c.integer("axis", 0));
  RELAXC_TRY(int64_t batch, c.integer("batch_dims", 0));
  RELAXC_TRY(std::string mode, c.text("mode", "clip"));
  if (batch != 0) return c.error("batch_dims", Kind::unsupported, "{} with batch_dims={}", c.spelled, batch);
  if (!c.has("axis")) {
    RELAXC_TRY(x, c.op("flatten", {x}));
  }
  return c.term(c.op("take", {x, indices}, {{"axis", axis}, {"mode", mode}}));
}

/// gather_nd(data, indices, batch_dims)
Result<Term> gather_nd(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * indices, c.tensor("indices"));
  RELAXC_TRY(int64_t batch, c.integer("batch_dims", 0));
  RELAXC_TRY(indices, first_axis_last(c, indices));
  return c.term(c.op("gather_nd", {x, indices}, {{"batch_dims", batch}}));
}

/// scatter_nd(data, indices, updates, mode)
Result<Term> scatter_nd(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * indices, c.tensor("indices"));
  RELAXC_TRY(Value * updates, c.tensor("updates"));
  RELAXC_TRY(std::string mode, c.text("mode", "update"));
  RELAXC_TRY(indices, first_axis_last(c, indices));
  if (mode == "update") mode = "none";
  return c.term(c.op("scatter_nd", {x, indices, updates}, {{"reduction", mode}}));
}

/// adv_index((data, indices, …)): data[i, j, …], where the indices broadcast.
Result<Term> adv_index(TvmCall& c) {
  RELAXC_TRY(std::vector<Value*> inputs, c.values("inputs"));
  if (inputs.size() < 2) return c.error("inputs", Kind::wrong_arity, "{} takes a tensor and indices", c.spelled);
  Value* x = inputs[0];
  inputs.erase(inputs.begin());
  Value* places = nullptr;
  for (Value*& one : inputs) {
    RELAXC_TRY(one, c.cast(one, DType::i(64)));
    RELAXC_TRY(places, places == nullptr ? Result<Value*>(one) : c.op("add", {places, one}));
  }
  RELAXC_TRY(Value * zeros, c.op("zeros", {c.build().shape(places->shape())}, {{"dtype", DType::i(64)}}));
  for (Value*& one : inputs) {
    RELAXC_TRY(one, c.op("add", {one, zeros}));
  }
  RELAXC_TRY(Value * indices, c.op("stack", std::move(inputs), {{"axis", int64_t{-1}}}));
  return c.term(c.op("gather_nd", {x, indices}));
}

/// The bounds of a slice, one for each of its axes.
struct Bounds {
  Ints begin, end, strides, axes;
};

Result<Bounds> read_bounds(TvmCall& c, size_t rank) {
  Bounds b;
  RELAXC_TRY(b.begin, known_integers(c, "begin"));
  RELAXC_TRY(b.end, known_integers(c, "end"));
  RELAXC_TRY(b.strides, known_integers(c, "strides"));
  RELAXC_TRY(b.axes, c.ints("axes", {}));
  RELAXC_TRY(std::string mode, c.text("slice_mode", "end"));
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  size_t count = c.has("axes") ? b.axes.size() : std::max(b.begin.size(), b.end.size());
  if (!c.has("axes"))
    for (size_t i = 0; i < count; ++i) b.axes.push_back(static_cast<int64_t>(i));
  if (mode == "size") b.strides.clear();
  b.strides.resize(count, b.strides.size() == 1 ? b.strides[0] : 1);
  if (count > rank || b.begin.size() > count || b.end.size() > count)
    return c.error("begin", Kind::invalid_attribute, "bounds of {} axes for a tensor of {} dims", count, rank);
  for (size_t i = b.begin.size(); i < count; ++i) b.begin.push_back(b.strides[i] > 0 ? 0 : kAll);
  for (size_t i = b.end.size(); i < count; ++i) b.end.push_back(mode == "size" ? -1 : b.strides[i] > 0 ? kAll : -kAll);
  if (mode != "size") return b;
  for (size_t i = 0; i < count; ++i) b.end[i] = b.end[i] < 0 ? kAll : b.begin[i] + b.end[i];
  return b;
}

/// strided_slice(data, begin, end, strides, slice_mode, axes): with mode "size", `end` is a count, or -1 for the rest.
Result<Term> slice(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Bounds bounds, read_bounds(c, x->shape().size()));
  auto shape = [&](const Ints& numbers) {
    Exprs dims;
    for (int64_t number : numbers) dims.push_back(c.context().index(number));
    return c.build().shape(std::move(dims));
  };
  return c.term(c.op("strided_slice", {x, shape(bounds.begin), shape(bounds.end), shape(bounds.strides)},
                     {{"axes", bounds.axes}}));
}

/// dyn.strided_slice(data, begin, end, strides, slice_mode)
Result<Term> dynamic_slice(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(std::string mode, c.text("slice_mode", "end"));
  std::vector<Value*> operands{x};
  Ints axes;
  for (std::string_view param : {"begin", "end", "strides"}) {
    RELAXC_TRY(Value * bound, c.tensor(param));
    if (param == "end" && mode == "size") {
      RELAXC_TRY(Value * begin, c.tensor("begin"));
      RELAXC_TRY(Value * size, c.cast(bound, DType::i(64)));
      RELAXC_TRY(begin, c.cast(begin, DType::i(64)));
      relax::GraphBuilder& b = c.build();
      RELAXC_TRY(Value * all, c.op("less", {size, b.scalar(DType::i(64), 0)}));
      RELAXC_TRY(Value * sum, c.op("add", {begin, size}));
      RELAXC_TRY(bound, c.op("where", {all, b.scalar(DType::i(64), static_cast<double>(int64_t{1} << 40)), sum}));
    }
    if (param == "begin" && bound->shape().size() == 1 && bound->shape()[0].constant() != nullptr) {
      const int64_t count = *bound->shape()[0].constant();
      if (count > static_cast<int64_t>(x->shape().size()))
        return c.error(param, Kind::rank_mismatch, "{} of {} dims has {} bounds", c.spelled, x->shape().size(), count);
      for (int64_t i = 0; i < count; ++i) axes.push_back(i);
    }
    if (param == "strides" && mode == "size") break;
    RELAXC_TRY(bound, shape_from(c, bound));
    operands.push_back(bound);
  }
  return c.term(c.op("strided_slice", std::move(operands), {{"axes", axes}}));
}

/// slice_like(data, shape_like, axes): the first elements of data, as many along each axis as shape_like has.
Result<Term> slice_like(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * like, c.tensor("shape_like"));
  RELAXC_TRY(Ints axes, c.ints("axes", {}));
  auto rank = static_cast<int64_t>(std::min(x->shape().size(), like->shape().size()));
  if (axes.empty())
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  Exprs begin, end;
  for (int64_t& axis : axes) {
    if (axis < 0) axis += static_cast<int64_t>(x->shape().size());
    if (axis < 0 || axis >= rank) return c.error("axes", Kind::invalid_attribute, "axis {} of {}", axis, rank);
    begin.push_back(c.context().index(0));
    end.push_back(like->shape()[static_cast<size_t>(axis)]);
  }
  relax::GraphBuilder& b = c.build();
  return c.term(c.op("strided_slice", {x, b.shape(std::move(begin)), b.shape(std::move(end))}, {{"axes", axes}}));
}

/// one_hot(indices, on_value, off_value, depth, axis, dtype), and dyn.one_hot, whose depth is a tensor.
Result<Term> one_hot(TvmCall& c) {
  RELAXC_TRY(Value * indices, c.tensor("indices"));
  RELAXC_TRY(Value * on, c.tensor("on_value"));
  RELAXC_TRY(Value * off, c.tensor("off_value"));
  RELAXC_TRY(int64_t axis, c.integer("axis", -1));
  RELAXC_TRY(DType dtype, c.dtype("dtype", on->dtype()));
  Value* depth = nullptr;
  if (c.is_value("depth")) {
    RELAXC_TRY(Value * size, c.tensor("depth"));
    RELAXC_TRY(depth, shape_from(c, size));
  } else {
    RELAXC_TRY(arith::Expr size, c.index("depth", c.context().index(1)));
    depth = c.build().shape({size});
  }
  RELAXC_TRY(on, c.cast(on, dtype));
  RELAXC_TRY(off, c.cast(off, dtype));
  return c.term(c.op("one_hot", {indices, on, off, depth}, {{"axis", axis}}));
}

/// argwhere(condition): the indices of all elements that are not zero, one row for each element.
Result<Term> argwhere(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(Value * places, c.op("nonzero", {x}));
  RELAXC_TRY(places, c.op("permute_dims", {places}));
  return c.term(c.cast(places, DType::i(32)));
}

/// unravel_index(data, shape): converts flat positions to indices, one row for each axis of the shape.
Result<Term> unravel_index(TvmCall& c) {
  RELAXC_TRY(Value * rest, c.tensor("data"));
  RELAXC_TRY(Ints dims, known_integers(c, "shape"));
  relax::GraphBuilder& b = c.build();
  std::vector<Value*> rows(dims.size());
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] < 1) return c.error("shape", Kind::invalid_value, "a dim of {}", dims[i]);
    Value* extent = b.scalar(rest->dtype(), static_cast<double>(dims[i]));
    RELAXC_TRY(rows[i], c.op("floor_mod", {rest, extent}));
    RELAXC_TRY(rest, c.op("floor_divide", {rest, extent}));
  }
  return c.term(c.op("stack", std::move(rows), {{"axis", int64_t{0}}}));
}

/// trilu(data, k, upper)
Result<Term> trilu(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("data"));
  RELAXC_TRY(Value * k, c.tensor("k"));
  RELAXC_TRY(bool upper, c.flag("upper", true));
  RELAXC_TRY(k, shape_from(c, k));
  return c.term(c.op("trilu", {x, k}, {{"upper", upper}}));
}

/// searchsorted(sorted_sequence, values, right, dtype) in one sorted list
Result<Term> search_sorted(TvmCall& c) {
  RELAXC_TRY(Value * keys, c.tensor("keys"));
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(bool right, c.flag("right", false));
  RELAXC_TRY(DType dtype, c.dtype("dtype", DType::i(32)));
  if (keys->shape().size() != 1)
    return c.error("keys", Kind::unsupported, "{} in one sorted list is supported, found {}", c.spelled,
                   relax::to_string(keys->info));
  RELAXC_TRY(x, c.op("search_sorted", {keys, x}, {{"right", right}}));
  return c.term(c.cast(x, dtype));
}

/// invert_permutation(data)
Result<Term> invert_permutation(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  DType dtype = x->dtype();
  RELAXC_TRY(x, c.op("argsort", {x}, {{"axis", int64_t{0}}}));
  return c.term(c.cast(x, dtype));
}

constexpr std::string_view kSlice = "data, begin, end, strides, slice_mode, axes";

constexpr Row kRows[] = {
    {"take", "data, indices, batch_dims, axis, mode", {}, take, "batch_dims of 0"},
    {"gather", "data:x, indices, axis", "gather_elements"},
    {"gather_nd", "data, indices, batch_dims, index_rank", {}, gather_nd},
    {"scatter", "data, indices, updates, axis", "scatter_elements"},
    {"scatter_add", "data, indices, updates, axis, reduction=add", "scatter_elements"},
    {"scatter_elements", "data, indices, updates, axis, reduction", "scatter_elements"},
    {"scatter_nd", "data, indices, updates, mode", {}, scatter_nd},
    {"adv_index", "inputs", {}, adv_index},
    {"strided_slice", kSlice, {}, slice},
    {"dyn.strided_slice", kSlice, {}, dynamic_slice},
    {"slice_like", "data, shape_like, axes", {}, slice_like},
    {"split", "data:x, indices_or_sections, axis", "split"},
    {"one_hot", "indices, on_value, off_value, depth, axis, dtype", {}, one_hot},
    {"dyn.one_hot", "indices, on_value, off_value, depth, axis, dtype", {}, one_hot},
    {"reverse_sequence", "data:x, seq_lengths:lengths, seq_axis=1, batch_axis=0", "reverse_sequence"},
    {"argwhere", "condition:x", {}, argwhere},
    {"unravel_index", "data, shape", {}, unravel_index, "shapes that are known when compiling"},
    {"trilu", "data, k, upper", {}, trilu},
    {"searchsorted", "sorted_sequence:keys, values:x, right, dtype", {}, search_sorted, "one sorted list"},
    {"invert_permutation", "data:x", {}, invert_permutation},
};

}  // namespace
}  // namespace relaxc::relay::parts_family

RELAXC_RELAY_OPERATORS(parts, kRows)
