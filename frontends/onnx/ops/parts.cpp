// parts.cpp: operators that split, join and reorder tensors: Concat, Split, Slice, Gather,
// Transpose.
//
// Each also folds known contents, since exporters use them for shapes: a Slice of a Shape is a list of dims.
#include <functional>
#include <numeric>

#include "frontends/onnx/axes.h"
#include "frontends/onnx/fold.h"
#include "frontends/onnx/load.h"

namespace relaxc::frontend::parts_family {
namespace {

Status concat(Node& node) {
  RELAXC_TRY(std::vector<Value*> parts, node.all_inputs());
  if (parts.empty()) return node.error(Kind::wrong_arity, "it needs at least one input");
  // In opsets 1 to 3, the axis is 1 by default.
  if (!node.has_attr("axis") && node.opset >= 4) return node.error(Kind::invalid_attribute, "axis is missing");
  return node.set(0, node.call("concat", parts, {{"axis", node.int_attr("axis", 1)}}));
}

bool fold_concat(Node& node) {
  int64_t axis = node.int_attr("axis", 1);
  Known all;
  for (size_t i = 0; i < node.inputs(); ++i) {
    const Known* part = node.known(i);
    if (part == nullptr || part->shape.size() != 1 || (axis != 0 && axis != -1)) return false;
    if (i > 0 && part->dtype != all.dtype) return false;
    all.dtype = part->dtype;
    all.elements.insert(all.elements.end(), part->elements.begin(), part->elements.end());
  }
  all.shape = {all.size()};
  return node.inputs() > 0 && node.set_known(0, std::move(all));
}

Status split(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(int64_t axis, normal_axis(node, node.int_attr("axis", 0), static_cast<int64_t>(x->shape().size())));
  Attrs attrs{{"axis", axis}};
  std::vector<Value*> operands{x};
  int64_t count = static_cast<int64_t>(node.outputs());
  if ((node.opset < 13 && node.has_attr("split")) || (node.opset >= 13 && node.has(1)) ||
      (node.opset < 2 && node.has(1))) {
    std::vector<Expr> sizes;
    if (node.opset < 13 && node.has_attr("split")) {
      sizes = node.indices(node.ints_attr("split"));
    } else {
      RELAXC_TRY(sizes, node.ints(1, count));
    }
    if (static_cast<int64_t>(sizes.size()) != count)
      return node.error(Kind::invalid_value, "there are {} sizes and {} outputs", sizes.size(), count);
    operands.push_back(node.shape(std::move(sizes)));
  } else {
    if (node.opset >= 18 && node.int_attr("num_outputs", count) != count)
      return node.error(Kind::invalid_attribute, "num_outputs is {}, but there are {} outputs",
                        node.int_attr("num_outputs", count), count);
    attrs.set("sections", count);
  }
  RELAXC_TRY(std::vector<Value*> parts, node.call_many("split", operands, std::move(attrs)));
  for (size_t i = 0; i < parts.size(); ++i) RELAXC_DO(node.set(i, parts[i]));
  return Done{};
}

bool fold_split(Node& node) {
  const Known* x = node.known(0);
  if (x == nullptr || x->shape.size() != 1 || node.outputs() == 0) return false;
  std::vector<int64_t> sizes;
  if (node.opset < 13 && node.has_attr("split")) {
    sizes = node.ints_attr("split");
  } else if (node.opset >= 13 && node.has(1)) {
    const Known* given = node.known(1);
    if (given == nullptr || !given->constants()) return false;
    sizes = *given->constants();
  } else {
    int64_t count = static_cast<int64_t>(node.outputs()), each = (x->size() + count - 1) / count;
    for (int64_t i = 0, left = x->size(); i < count; ++i, left -= each)
      sizes.push_back(std::clamp<int64_t>(left, 0, each));
  }
  int64_t sum = 0;
  for (int64_t extent : sizes)
    if (extent < 0 || extent > kMostKnown || (sum += extent) > x->size()) return false;
  if (sizes.size() != node.outputs() || sum != x->size()) return false;
  Known all = *x;  // setting an output may move the slot that x points to
  auto at = all.elements.begin();
  for (size_t i = 0; i < sizes.size(); at += sizes[i++])
    node.set_known(i, Known{all.dtype, {sizes[i]}, std::vector<Expr>(at, at + sizes[i])});
  return true;
}

/// Rewrites a slice whose axes are read at run time as one of every axis; unnamed axes go from 0 to their end.
void spread_over_all_axes(Node& node, const std::vector<Expr>& dims, const std::vector<Expr>& axes,
                          std::vector<Expr>& starts, std::vector<Expr>& ends, std::vector<Expr>& steps) {
  std::vector<Expr> from, to, by;
  for (size_t i = 0; i < dims.size(); ++i) {
    Expr start = node.index(0), end = dims[i], step = node.index(1);
    for (size_t k = 0; k < axes.size(); ++k) {
      Expr here = arith::eq(axes[k], node.index(static_cast<int64_t>(i)));
      start = arith::select(here, starts[k], start);
      end = arith::select(here, ends[k], end);
      step = arith::select(here, steps[k], step);
    }
    from.push_back(node.simplify(start));
    to.push_back(node.simplify(end));
    by.push_back(node.simplify(step));
  }
  starts = std::move(from), ends = std::move(to), steps = std::move(by);
}

/// Returns the start of a backward slice. A negative start before the axis begins at the first element: ONNX clamps it
/// to the axis, while NumPy and `strided_slice` take it for a position before the axis.
Expr backward_start(Node& node, Expr start, Expr dim) {
  const int64_t* value = start.constant();
  if (value != nullptr && *value >= -1) return start;
  return node.simplify(arith::select(arith::lt(start, node.index(0)), arith::max(start, node.index(0) - dim), start));
}

/// Returns the number of sliced axes, which is the length of all lists; nullopt if it is not known.
Result<std::optional<int64_t>> axes_cut(Node& node) {
  for (size_t i = 1; i < 5; ++i) {
    if (!node.has(i)) continue;
    RELAXC_TRY(const TensorInfo* list, node.info(i));
    if (list->shape->size() != 1) continue;
    if (const int64_t* count = (*list->shape)[0].constant()) return std::optional<int64_t>(*count);
  }
  return std::optional<int64_t>{};
}

/// Reads the lists of a slice whose number of axes is known only at run time, as lists for all axes; padding leaves the
/// other axes whole. More numbers than axes, and lists of different lengths, are refused at run time.
class OpenLists {
 public:
  OpenLists(Node& node, Value* x) : node_(node), rank_(static_cast<int64_t>(x->shape().size())) {}

  /// Returns input `index` as a list for all axes; `rest` is the value that it is padded with.
  Result<std::vector<Expr>> read(size_t index, double rest) {
    RELAXC_TRY(Value * list, node_.input(index));
    if (list->shape().size() != 1)
      return node_.error(Kind::rank_mismatch, "input '{}' must be a list, found {}", list->name,
                         relax::to_string(list->info));
    if (!count_) {
      count_ = list->shape()[0];
      RELAXC_DO(expect_room());
    }
    RELAXC_TRY(list, with_shape(node_, list, {count_}, fmt::format("input '{}'", list->name)));
    RELAXC_TRY(list, astype(node_, list, DType::i(64)));
    Expr missing = node_.simplify(arith::max(node_.index(0), node_.index(rank_) - count_));
    Value *pads = node_.shape({node_.index(0), missing}), *fill = node_.scalar(DType::i(64), rest);
    RELAXC_TRY(list, node_.call("pad", {list, pads, fill}));
    RELAXC_TRY(list, with_shape(node_, list, {node_.index(rank_)}, "the list of axes"));
    return values_of(node_, list);
  }

  /// Returns the number of axes in the lists, which is symbolic.
  Expr count() const { return count_; }

 private:
  Status expect_room() { return expect(node_, arith::le(count_, node_.index(rank_))); }

  Node& node_;
  int64_t rank_;
  Expr count_;
};

/// Starts, ends, axes and steps of a slice; empty axes mean the first ones.
struct Limits {
  std::vector<Expr> starts, ends, axes, steps;
};

Result<Limits> open_limits(Node& node, Value* x) {
  auto rank = static_cast<int64_t>(x->shape().size());
  OpenLists lists(node, x);
  Limits limits;
  RELAXC_TRY(limits.starts, lists.read(1, 0));
  RELAXC_TRY(limits.ends, lists.read(2, 0x1p62));
  if (node.has(3)) {
    RELAXC_TRY(limits.axes, lists.read(3, static_cast<double>(rank)));  // `rank` is the index of no axis
    for (Expr& axis : limits.axes)
      axis = node.simplify(arith::select(arith::lt(axis, node.index(0)), axis + rank, axis));
    RELAXC_DO(expect_axes(node, limits.axes, rank, lists.count()));
  }
  if (node.has(4)) {
    RELAXC_TRY(limits.steps, lists.read(4, 1));
  }
  return limits;
}

Status emit_slice(Node& node, Value* x, Limits limits);

/// Converts Slice: starts, ends and axes are attributes before opset 10, inputs since.
Status slice(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  Limits limits;
  int64_t rank = static_cast<int64_t>(x->shape().size());
  if (node.opset < 10) {
    limits.starts = node.indices(node.ints_attr("starts"));
    limits.ends = node.indices(node.ints_attr("ends"));
    std::vector<int64_t> axes = node.ints_attr("axes");
    RELAXC_TRY(axes, normal_axes(node, axes, rank));
    limits.axes = node.indices(axes);
  } else {
    RELAXC_TRY(std::optional<int64_t> count, axes_cut(node));
    bool open = !count && node.known(1) == nullptr && node.known(2) == nullptr;
    RELAXC_TRY(const TensorInfo* list, node.info(1));
    if (open && list->shape->size() == 1) {
      RELAXC_TRY(limits, open_limits(node, x));
      return emit_slice(node, x, std::move(limits));
    }
    RELAXC_TRY(limits.starts, node.ints(1, count));
    RELAXC_TRY(limits.ends, node.ints(2, count));
    if (node.has(3)) {
      RELAXC_TRY(limits.axes, axis_exprs(node, 3, "axes", rank, count));
    }
    if (node.has(4)) {
      RELAXC_TRY(limits.steps, node.ints(4, count));
    }
  }
  return emit_slice(node, x, std::move(limits));
}

Status emit_slice(Node& node, Value* x, Limits limits) {
  auto& [starts, ends, given, steps] = limits;
  if (starts.empty()) return node.forward(0, 0);
  if (steps.empty()) steps.assign(starts.size(), node.index(1));
  if (given.empty())
    for (size_t i = 0; i < starts.size(); ++i) given.push_back(node.index(static_cast<int64_t>(i)));
  if (ends.size() != starts.size() || steps.size() != starts.size() || given.size() != starts.size())
    return node.error(Kind::invalid_value, "there are {} starts, {} ends, {} axes and {} steps", starts.size(),
                      ends.size(), given.size(), steps.size());
  std::optional<std::vector<int64_t>> axes = as_numbers(given);
  if (!axes) spread_over_all_axes(node, x->shape(), given, starts, ends, steps);
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t* step = steps[i].constant();
    if (step != nullptr && *step > 0) continue;
    Expr start = backward_start(node, starts[i], x->shape()[axes ? static_cast<size_t>((*axes)[i]) : i]);
    starts[i] = arith::select(arith::lt(steps[i], node.index(0)), start, starts[i]);
  }
  return node.set(
      0, node.call("strided_slice",
                   {x, node.shape(std::move(starts)), node.shape(std::move(ends)), node.shape(std::move(steps))},
                   {{"axes", axes.value_or(std::vector<int64_t>{})}}));
}

/// The slice of one axis of known contents, in numbers: `count` elements from `begin`, `step` apart.
struct Cut {
  int64_t begin = 0, step = 1, count = 0;
};

/// Returns the slice of every axis; nullopt if it is not known at compile time.
std::optional<std::vector<Cut>> cuts_of(Node& node, const std::vector<int64_t>& shape) {
  std::vector<Cut> cuts;
  for (int64_t extent : shape) cuts.push_back({0, 1, extent});
  auto list = [&](size_t input, const char* attr) -> std::optional<std::vector<int64_t>> {
    if (node.opset < 10) return node.ints_attr(attr);
    if (!node.has(input)) return std::vector<int64_t>{};
    const Known* given = node.known(input);
    return given == nullptr ? std::nullopt : given->constants();
  };
  auto starts = list(1, "starts"), ends = list(2, "ends"), axes = list(3, "axes"), steps = list(4, "steps");
  if (!starts || !ends || !axes || !steps || starts->size() != ends->size()) return std::nullopt;
  int64_t rank = static_cast<int64_t>(shape.size());
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = axes->empty() ? static_cast<int64_t>(i) : i < axes->size() ? (*axes)[i] : rank;
    int64_t step = steps->empty() ? 1 : i < steps->size() ? (*steps)[i] : 0;
    if (axis < -rank || axis >= rank || step == 0) return std::nullopt;
    int64_t size = shape[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    auto position = [&](int64_t at) {
      return at < -size ? low : std::clamp<int64_t>(at < 0 ? at + size : at, low, high);
    };
    if (step < 0) (*starts)[i] = std::max((*starts)[i], -size);
    step = std::clamp<int64_t>(step, -kMostKnown - 1, kMostKnown + 1);
    int64_t from = position((*starts)[i]), to = position((*ends)[i]);
    int64_t distance = step > 0 ? to - from : from - to, stride = step > 0 ? step : -step;
    cuts[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = {from, step,
                                                                std::max<int64_t>(0, (distance + stride - 1) / stride)};
  }
  return cuts;
}

/// Sets the output to known contents, rearranged: element i is element `from(i)` of x, where both are subscripts.
bool set_rearranged(Node& node, const Known& x, std::vector<int64_t> shape,
                    const std::function<std::vector<int64_t>(const std::vector<int64_t>&)>& from) {
  Known result{x.dtype, std::move(shape), {}};
  int64_t count = 1;
  for (int64_t extent : result.shape) count *= extent;
  std::vector<int64_t> at(result.shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> source = from(at);
    int64_t flat = 0;
    for (size_t k = 0; k < source.size(); ++k) flat = flat * x.shape[k] + source[k];
    result.elements.push_back(x.elements[static_cast<size_t>(flat)]);
    for (size_t k = at.size(); k-- > 0;) {
      if (++at[k] < result.shape[k]) break;
      at[k] = 0;
    }
  }
  return node.set_known(0, std::move(result));
}

bool fold_slice(Node& node) {
  const Known* x = node.known(0);
  std::optional<std::vector<Cut>> cuts = x == nullptr ? std::nullopt : cuts_of(node, x->shape);
  if (!cuts) return false;
  std::vector<int64_t> shape;
  for (const Cut& cut : *cuts) shape.push_back(cut.count);
  Known copy = *x;
  return set_rearranged(node, copy, shape, [&](const std::vector<int64_t>& at) {
    std::vector<int64_t> from;
    for (size_t k = 0; k < at.size(); ++k) from.push_back((*cuts)[k].begin + at[k] * (*cuts)[k].step);
    return from;
  });
}

bool fold_gather(Node& node) {
  const Known *x = node.known(0), *indices = node.known(1);
  int64_t axis = node.int_attr("axis", 0);
  if (x == nullptr || indices == nullptr || x->shape.size() != 1 || (axis != 0 && axis != -1)) return false;
  auto list = indices->constants();
  if (!list) return false;
  Known result{x->dtype, indices->shape, {}};
  for (int64_t at : *list) {
    if (at < -x->size() || at >= x->size()) return false;
    result.elements.push_back(x->elements[static_cast<size_t>(at < 0 ? at + x->size() : at)]);
  }
  return node.set_known(0, std::move(result));
}

Status gather(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * indices, node.input(1));
  RELAXC_TRY(int64_t axis, normal_axis(node, node.int_attr("axis", 0), static_cast<int64_t>(x->shape().size())));
  return node.set(0, node.call("take", {x, indices}, {{"axis", axis}}));
}

Status transpose(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  std::vector<int64_t> perm = node.ints_attr("perm");
  if (!perm.empty()) {
    if (perm.size() != x->shape().size())
      return node.error(Kind::invalid_attribute, "perm has {} axes, the input {}", perm.size(), x->shape().size());
    RELAXC_TRY(perm, normal_axes(node, perm, static_cast<int64_t>(perm.size())));
  }
  return node.set(0, node.call("permute_dims", {x}, {{"axes", perm}}));
}

bool fold_transpose(Node& node) {
  const Known* x = node.known(0);
  if (x == nullptr) return false;
  size_t rank = x->shape.size();
  std::vector<int64_t> perm = node.ints_attr("perm"), shape;
  if (perm.empty())
    for (size_t i = rank; i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  std::vector<int64_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.size() != rank) return false;
  for (size_t i = 0; i < rank; ++i)
    if (sorted[i] != static_cast<int64_t>(i)) return false;
  for (int64_t axis : perm) shape.push_back(x->shape[static_cast<size_t>(axis)]);
  Known copy = *x;
  return set_rearranged(node, copy, shape, [&](const std::vector<int64_t>& at) {
    std::vector<int64_t> from(rank);
    for (size_t k = 0; k < rank; ++k) from[static_cast<size_t>(perm[k])] = at[k];
    return from;
  });
}

constexpr Converter kRows[] = {
    {.name = "Transpose", .convert = transpose, .fold = fold_transpose, .strings = Converter::Strings::kMoved},
    {.name = "Concat", .convert = concat, .fold = fold_concat, .strings = Converter::Strings::kMoved},
    {.name = "Split", .convert = split, .fold = fold_split, .strings = Converter::Strings::kMoved},
    {.name = "Slice", .convert = slice, .fold = fold_slice, .strings = Converter::Strings::kMoved},
    {.name = "Gather", .convert = gather, .fold = fold_gather, .strings = Converter::Strings::kMoved},
};

}  // namespace
}  // namespace relaxc::frontend::parts_family

RELAXC_CONVERTERS(parts, kRows)
