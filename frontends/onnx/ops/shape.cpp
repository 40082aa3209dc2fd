// shape.cpp: operators that models compute shapes with, and those that take one.
//
// Shape, Size and constants give known contents; what takes a shape asks for contents and, where they are not known,
// binds symbols to the tensor's elements. A Reshape target that is read when the program runs may hold 0 (keep) and -1
// (infer), which become selects; one that comes from dims cannot.
#include <cmath>
#include <functional>
#include <numeric>

#include "frontends/onnx/axes.h"
#include "frontends/onnx/fold.h"
#include "frontends/onnx/load.h"

namespace relaxc::frontend {
namespace {

std::vector<Expr> dims_of(Node& node, const std::vector<int64_t>& shape) {
  std::vector<Expr> dims;
  for (int64_t extent : shape) dims.push_back(node.index(extent));
  return dims;
}

Expr product(Node& node, const std::vector<Expr>& dims) {
  Expr total = node.index(1);
  for (Expr extent : dims) total = total * extent;
  return total;
}

Status shape(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(const TensorInfo* x, node.info(0));
  int64_t rank = x->ndim;
  auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  int64_t start = clamp(node.int_attr("start", 0)), end = clamp(node.int_attr("end", rank));
  Known dims;
  for (int64_t i = start; i < end; ++i) dims.elements.push_back((*x->shape)[static_cast<size_t>(i)]);
  dims.shape = {dims.size()};
  node.set_known(0, std::move(dims));
  return Done{};
}

Status size(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(const TensorInfo* x, node.info(0));
  node.set_known(0, Known{DType::i(64), {}, {product(node, *x->shape)}});
  return Done{};
}

Status constant(Node& node) {
  Diagnostics& diag = node.diag;
  if (const auto* value = node.attribute("value")) {
    RELAXC_TRY(relax::ConstantRef data, node.tensor_attr(value->t()));
    return node.set(0, node.builder().constant(std::move(data)));
  }
  if (node.has_attr("value_int")) {
    node.set_known(0, Known{DType::i(64), {}, {node.index(node.int_attr("value_int", 0))}});
    return Done{};
  }
  if (node.has_attr("value_ints")) return node.set(0, node.builder().int64s(node.ints_attr("value_ints")));
  if (node.has_attr("value_float")) return node.set(0, node.scalar(DType::f(32), node.float_attr("value_float", 0)));
  if (const auto* value = node.attribute("value_floats")) {
    std::vector<std::byte> bytes;
    for (float number : value->floats()) {
      std::vector<std::byte> element = relax::encode_scalar(DType::f(32), static_cast<double>(number));
      bytes.insert(bytes.end(), element.begin(), element.end());
    }
    return node.set(0, node.builder().constant(
                           relax::ConstantData::inline_bytes(DType::f(32), {value->floats_size()}, std::move(bytes))));
  }
  return node.error(Kind::unsupported, "sparse and string constants are not supported");
}

Status constant_of_shape(Node& node) {
  Diagnostics& diag = node.diag;
  relax::ConstantRef value;
  if (const auto* given = node.attribute("value")) {
    RELAXC_TRY(value, node.tensor_attr(given->t()));
    if (value->elements() != 1)
      return node.error(Kind::invalid_attribute, "attribute 'value' must have one element, found {}",
                        value->elements());
    value = value->reshaped({});
  } else {
    value = relax::ConstantData::inline_bytes(DType::f(32), {}, relax::encode_scalar(DType::f(32), 0));
  }
  RELAXC_TRY(std::vector<Expr> dims, node.ints(0));
  Value* scalar = node.builder().constant(value);
  if (dims.empty()) return node.set(0, scalar);
  return node.set(0, node.call("full", {node.shape(std::move(dims)), scalar}));
}

bool fold_constant_of_shape(Node& node) {
  const Known* target = node.known(0);
  if (target == nullptr || !target->constants()) return false;
  std::vector<int64_t> shape = *target->constants();
  int64_t count = 1;
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count) || count > kMostKnown) return false;
  const auto* given = node.attribute("value");
  if (given == nullptr ||
      !(given->t().data_type() == onnx::TensorProto::INT64 || given->t().data_type() == onnx::TensorProto::INT32 ||
        given->t().data_type() == onnx::TensorProto::BOOL))
    return false;
  Result<relax::ConstantRef> data = node.tensor_attr(given->t());
  if (!data) return false;
  std::optional<Known> value = known_constant(node.context(), **data);
  if (!value || value->size() != 1) return false;
  return node.set_known(0,
                        Known{value->dtype, shape, std::vector<Expr>(static_cast<size_t>(count), value->elements[0])});
}

/// The dims that a Reshape target means, for an operand of dims `from`.
Result<std::vector<Expr>> reshape_dims(Node& node, const std::vector<Expr>& from, std::vector<Expr> target,
                                       bool allow_zero) {
  Expr zero = node.index(0), minus_one = node.index(-1), total = product(node, from);
  size_t inferred = target.size();
  std::vector<bool> may_infer(target.size(), false);
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i].is_constant(-1)) {
      if (inferred != target.size()) return node.error(Kind::invalid_value, "only one dim of the target can be -1");
      inferred = i;
    } else if (target[i].is_constant(0) && !allow_zero) {
      if (i >= from.size())
        return node.error(Kind::invalid_value, "dim {} of the target is 0 (keep), but the input has {} dims", i,
                          from.size());
      target[i] = from[i];
    } else if (target[i].constant() != nullptr && *target[i].constant() < 0) {
      return node.error(Kind::invalid_value, "dim {} of the target is {}", i, *target[i].constant());
    } else if (target[i].constant() == nullptr && arith::bounds(target[i], node.facts()).lower < 0) {
      may_infer[i] = true;  // read at run time: it may be 0 or -1
      if (!allow_zero && i < from.size()) target[i] = arith::select(arith::eq(target[i], zero), from[i], target[i]);
    }
  }
  Expr rest = node.index(1);
  for (size_t i = 0; i < target.size(); ++i) {
    if (i == inferred) continue;
    rest = rest * (may_infer[i] ? arith::select(arith::eq(target[i], minus_one), node.index(1), target[i]) : target[i]);
  }
  if (rest.is_constant(0) && inferred != target.size())
    return node.error(Kind::invalid_value, "a dim of -1 beside one of 0 could be anything");
  Expr left = arith::floordiv(total, arith::max(rest, node.index(1)));
  if (arith::bounds(rest, node.facts()).lower >= 1 || inferred != target.size()) left = arith::floordiv(total, rest);
  for (size_t i = 0; i < target.size(); ++i) {
    if (i == inferred) target[i] = left;
    if (may_infer[i]) target[i] = arith::select(arith::eq(target[i], minus_one), left, target[i]);
    target[i] = node.simplify(target[i]);
  }
  return target;
}

Status reshape_node(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(const TensorInfo* info, node.info(0));
  std::vector<Expr> from = *info->shape, target;
  if (node.opset < 5) {
    target = dims_of(node, node.ints_attr("shape"));
  } else {
    RELAXC_TRY(target, node.ints(1));
  }
  RELAXC_TRY(target, reshape_dims(node, from, std::move(target), node.int_attr("allowzero", 0) != 0));
  RELAXC_TRY(Value * x, node.input(0));
  return node.set(0, reshape(node, x, std::move(target)));
}

/// Known contents under another shape.
bool set_reshaped(Node& node, std::vector<int64_t> shape) {
  const Known* x = node.known(0);
  if (x == nullptr) return false;
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count == x->size() && node.set_known(0, Known{x->dtype, std::move(shape), x->elements});
}

bool fold_reshape(Node& node) {
  const Known *x = node.known(0), *target = node.opset < 5 ? nullptr : node.known(1);
  if (x == nullptr || target == nullptr || !target->constants() || x->size() == 0) return false;
  std::vector<int64_t> shape = *target->constants();
  int64_t rest = 1, open = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && i < x->shape.size()) shape[i] = x->shape[i];
    if (shape[i] == -1 && open < 0)
      open = static_cast<int64_t>(i);
    else if (shape[i] <= 0 || shape[i] > kMostKnown || __builtin_mul_overflow(rest, shape[i], &rest))
      return false;
  }
  if (open >= 0) shape[static_cast<size_t>(open)] = x->size() / rest;
  return set_reshaped(node, std::move(shape));
}

/// The axes of Squeeze and Unsqueeze: an attribute before opset 13, an input since. Nothing: absent.
Result<std::optional<std::vector<Expr>>> axes_of(Node& node, int64_t rank, bool added) {
  Diagnostics& diag = node.diag;
  using Axes = std::optional<std::vector<Expr>>;
  if (node.opset < 13 ? !node.has_attr("axes") : !node.has(1)) return Axes();
  if (node.opset >= 13) {
    RELAXC_TRY(const TensorInfo* info, node.info(1));
    const int64_t* count = info->ndim == 0 ? nullptr : (*info->shape)[0].constant();
    RELAXC_TRY(std::vector<Expr> axes, axis_exprs(node, 1, "axes",
                                                  rank + (added && count != nullptr ? *count
                                                          : added                   ? 1
                                                                                    : 0)));
    return Axes(std::move(axes));
  }
  std::vector<int64_t> given = node.ints_attr("axes");
  RELAXC_TRY(given, normal_axes(node, given, rank + (added ? static_cast<int64_t>(given.size()) : 0)));
  return Axes(dims_of(node, given));
}

Status unsqueeze(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(const TensorInfo* info, node.info(0));
  std::vector<Expr> from = *info->shape;
  RELAXC_TRY(auto given, axes_of(node, info->ndim, true));
  if (!given) return node.error(Kind::invalid_attribute, "axes are missing");
  auto axes = as_numbers(*given);
  if (!axes) {
    RELAXC_TRY(Value * x, node.input(0));
    return node.set(0, reshape(node, x, with_ones(node, from, *given)));
  }
  int64_t rank = static_cast<int64_t>(from.size() + axes->size());
  if (const Known* x = node.known(0)) {
    std::vector<int64_t> shape;
    for (int64_t i = 0, next = 0; i < rank; ++i)
      shape.push_back(std::count(axes->begin(), axes->end(), i) != 0 ? 1 : x->shape[static_cast<size_t>(next++)]);
    if (set_reshaped(node, std::move(shape))) return Done{};
  }
  RELAXC_TRY(Value * x, node.input(0));
  if (axes->empty()) return node.forward(0, 0);
  std::sort(axes->begin(), axes->end());
  return node.set(0, node.call("expand_dims", {x}, {{"axis", *axes}}));
}

Status squeeze(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(const TensorInfo* info, node.info(0));
  std::vector<Expr> from = *info->shape;
  RELAXC_TRY(auto given, axes_of(node, info->ndim, false));
  std::vector<int64_t> which;
  if (given) {
    auto axes = as_numbers(*given);
    if (!axes) {
      RELAXC_TRY(Value * x, node.input(0));
      return node.set(0, reshape(node, x, without(node, from, *given)));
    }
    which = *axes;
  } else {
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i].is_constant(1))
        which.push_back(static_cast<int64_t>(i));
      else if (from[i].constant() == nullptr)
        return node.error(Kind::unsupported, "without axes the rank depends on whether {} is 1; name the axes",
                          arith::to_string(from[i]));
  }
  if (const Known* x = node.known(0)) {
    std::vector<int64_t> shape;
    for (size_t i = 0; i < x->shape.size(); ++i)
      if (std::count(which.begin(), which.end(), static_cast<int64_t>(i)) == 0) shape.push_back(x->shape[i]);
    if (set_reshaped(node, std::move(shape))) return Done{};
  }
  if (which.empty()) return node.forward(0, 0);
  RELAXC_TRY(Value * x, node.input(0));
  std::sort(which.begin(), which.end());
  return node.set(0, node.call("squeeze", {x}, {{"axis", which}}));
}

/// [d0, …, dn] to [d0 * … * d(axis-1), d(axis) * … * dn].
Status flatten(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  int64_t rank = static_cast<int64_t>(x->shape().size()), axis = node.int_attr("axis", 1);
  if (axis < -rank || axis > rank)
    return node.error(Kind::invalid_attribute, "axis {} is outside {}..{}", axis, -rank, rank);
  if (axis < 0) axis += rank;
  const std::vector<Expr>& dims = x->shape();
  std::vector<Expr> rows(dims.begin(), dims.begin() + axis), columns(dims.begin() + axis, dims.end());
  return node.set(0, reshape(node, x, {node.simplify(product(node, rows)), node.simplify(product(node, columns))}));
}

Status transpose(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  std::vector<int64_t> perm = node.ints_attr("perm");
  if (!perm.empty()) {
    if (perm.size() != x->shape().size())
      return node.error(Kind::invalid_attribute, "perm has {} axes, the input {}", perm.size(), x->shape().size());
    RELAXC_TRY(perm, normal_axes(node, perm, static_cast<int64_t>(perm.size())));
  }
  return node.set(0, node.call("permute_dims", {x}, {{"axes", perm}}));
}

Status concat(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(std::vector<Value*> parts, node.all_inputs());
  if (parts.empty()) return node.error(Kind::wrong_arity, "it needs at least one input");
  // Opset 1 to 3 had axis 1 by default.
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
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(int64_t axis, normal_axis(node, node.int_attr("axis", 0), static_cast<int64_t>(x->shape().size())));
  Attrs attrs{{"axis", axis}};
  std::vector<Value*> operands{x};
  int64_t count = static_cast<int64_t>(node.outputs());
  if ((node.opset < 13 && node.has_attr("split")) || (node.opset >= 13 && node.has(1)) ||
      (node.opset < 2 && node.has(1))) {
    std::vector<Expr> sizes;
    if (node.opset < 13 && node.has_attr("split")) {
      sizes = dims_of(node, node.ints_attr("split"));
    } else {
      RELAXC_TRY(sizes, node.ints(1));
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

Status expand(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(std::vector<Expr> dims, node.ints(1));
  RELAXC_TRY(Value * x, node.input(0));
  return node.set(0, node.call("broadcast_to", {x, node.shape(std::move(dims))}, {{"mutual", true}}));
}

bool fold_expand(Node& node) {
  const Known *x = node.known(0), *target = node.known(1);
  if (x == nullptr || target == nullptr || !target->constants()) return false;
  auto shape = broadcast_shape(x->shape, *target->constants());
  auto elements = shape ? broadcast_known(*x, *shape) : std::nullopt;
  return elements && node.set_known(0, Known{x->dtype, *shape, *elements});
}

/// Opset 1: `tiles` times along `axis`, both inputs; later `repeats` for all axes.
Status tile(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  if (node.opset >= 6) {
    RELAXC_TRY(std::vector<Expr> repeats, node.ints(1));
    return node.set(0, node.call("tile", {x, node.shape(std::move(repeats))}));
  }
  RELAXC_TRY(std::vector<int64_t> axis, node.constant_ints(2, "axis"));
  RELAXC_TRY(std::vector<Expr> tiles, node.ints(1));
  std::vector<Expr> repeats(x->shape().size(), node.index(1));
  if (axis.size() != 1 || tiles.size() != 1) return node.error(Kind::invalid_value, "tiles and axis must be scalars");
  RELAXC_TRY(int64_t at, normal_axis(node, axis[0], static_cast<int64_t>(repeats.size())));
  repeats[static_cast<size_t>(at)] = tiles[0];
  return node.set(0, node.call("tile", {x, node.shape(std::move(repeats))}));
}

/// Axes that are read at run time: every axis is sliced, those that are none from 0 to its end.
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

/// Begins, ends, axes and steps: attributes before opset 10, inputs since.
Status slice(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  std::vector<Expr> starts, ends, steps, given;
  int64_t rank = static_cast<int64_t>(x->shape().size());
  if (node.opset < 10) {
    starts = dims_of(node, node.ints_attr("starts"));
    ends = dims_of(node, node.ints_attr("ends"));
    std::vector<int64_t> axes = node.ints_attr("axes");
    RELAXC_TRY(axes, normal_axes(node, axes, rank));
    given = dims_of(node, axes);
  } else {
    RELAXC_TRY(starts, node.ints(1));
    RELAXC_TRY(ends, node.ints(2));
    if (node.has(3)) {
      RELAXC_TRY(given, axis_exprs(node, 3, "axes", rank));
    }
    if (node.has(4)) {
      RELAXC_TRY(steps, node.ints(4));
    }
  }
  if (starts.empty()) return node.forward(0, 0);
  if (steps.empty()) steps.assign(starts.size(), node.index(1));
  if (given.empty())
    for (size_t i = 0; i < starts.size(); ++i) given.push_back(node.index(static_cast<int64_t>(i)));
  if (ends.size() != starts.size() || steps.size() != starts.size() || given.size() != starts.size())
    return node.error(Kind::invalid_value, "there are {} starts, {} ends, {} axes and {} steps", starts.size(),
                      ends.size(), given.size(), steps.size());
  std::optional<std::vector<int64_t>> axes = as_numbers(given);
  if (!axes) spread_over_all_axes(node, x->shape(), given, starts, ends, steps);
  return node.set(
      0, node.call("strided_slice",
                   {x, node.shape(std::move(starts)), node.shape(std::move(ends)), node.shape(std::move(steps))},
                   {{"axes", axes.value_or(std::vector<int64_t>{})}}));
}

/// One axis of a slice of known contents, with numbers.
struct Cut {
  int64_t begin = 0, step = 1, count = 0;
};

/// What is asked of every axis; nothing if it is not known.
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
    step = std::clamp<int64_t>(step, -kMostKnown - 1, kMostKnown + 1);
    int64_t from = position((*starts)[i]), to = position((*ends)[i]);
    int64_t distance = step > 0 ? to - from : from - to, stride = step > 0 ? step : -step;
    cuts[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = {from, step,
                                                                std::max<int64_t>(0, (distance + stride - 1) / stride)};
  }
  return cuts;
}

/// Known contents rearranged: element i of the result is element `from(i)` of x, both as subscripts.
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
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  RELAXC_TRY(Value * indices, node.input(1));
  RELAXC_TRY(int64_t axis, normal_axis(node, node.int_attr("axis", 0), static_cast<int64_t>(x->shape().size())));
  return node.set(0, node.call("take", {x, indices}, {{"axis", axis}}));
}

/// max(0, ceil((limit - start) / delta)) numbers.
Status range(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(const TensorInfo* type, node.info(0));
  DType dtype = *type->dtype;
  if (dtype == DType::i(64) || dtype == DType::i(32)) {
    std::vector<Expr> bounds;
    for (size_t i = 0; i < 3; ++i) {
      RELAXC_TRY(std::vector<Expr> value, node.ints(i));
      if (value.size() != 1) return node.error(Kind::invalid_value, "input {} must be a scalar", i);
      bounds.push_back(value[0]);
    }
    if (bounds[2].is_constant(0)) return node.error(Kind::invalid_value, "delta is 0");
    Expr zero = node.index(0), distance = bounds[1] - bounds[0], delta = bounds[2];
    arith::Range sign = arith::bounds(delta, node.facts());
    Expr up = arith::ceildiv(distance, delta), down = arith::ceildiv(zero - distance, zero - delta), count = up;
    if (sign.upper < 0) count = down;
    if (sign.lower <= 0 && sign.upper >= 0) count = arith::select(arith::lt(delta, zero), down, up);
    count = node.simplify(arith::max(zero, count));
    return node.set(0, node.call("arange", {node.shape({bounds[0], count, delta})}, {{"dtype", dtype}}));
  }
  std::optional<double> start = node.constant_scalar(0), limit = node.constant_scalar(1),
                        delta = node.constant_scalar(2);
  if (!start || !limit || !delta)
    return node.error(Kind::unsupported, "start, limit and delta of type {} must be constants", to_string(dtype));
  if (*delta == 0) return node.error(Kind::invalid_value, "delta is 0");
  double steps = std::max(0.0, std::ceil((*limit - *start) / *delta));
  if (!(steps < 1e15)) return node.error(Kind::overflow, "the range has {} elements", steps);
  return node.set(0, node.call("range_of", {node.scalar(dtype, *start), node.scalar(dtype, *delta),
                                            node.shape({node.index(static_cast<int64_t>(steps))})}));
}

bool fold_range(Node& node) {
  const Known *start = node.known(0), *limit = node.known(1), *delta = node.known(2);
  if (start == nullptr || limit == nullptr || delta == nullptr) return false;
  auto a = start->constants(), b = limit->constants(), d = delta->constants();
  if (!a || !b || !d || a->size() != 1 || b->size() != 1 || d->size() != 1 || (*d)[0] == 0) return false;
  Known list{start->dtype, {}, {}};
  __int128 at = (*a)[0], end = (*b)[0], step = (*d)[0];
  for (; step > 0 ? at < end : at > end; at += step) {
    if (list.size() == kMostKnown) return false;
    list.elements.push_back(node.index(static_cast<int64_t>(at)));
  }
  list.shape = {list.size()};
  return node.set_known(0, std::move(list));
}

constexpr Converter kRows[] = {
    {.name = "Shape", .convert = shape},
    {.name = "Size", .convert = size},
    {.name = "Constant", .convert = constant, .note = "not sparse, not strings"},
    {.name = "ConstantOfShape", .convert = constant_of_shape, .fold = fold_constant_of_shape},
    {.name = "Reshape", .convert = reshape_node, .fold = fold_reshape},
    {.name = "Unsqueeze", .convert = unsqueeze},
    {.name = "Squeeze", .convert = squeeze},
    {.name = "Flatten", .convert = flatten},
    {.name = "Transpose", .convert = transpose, .fold = fold_transpose},
    {.name = "Concat", .convert = concat, .fold = fold_concat},
    {.name = "Split", .convert = split, .fold = fold_split},
    {.name = "Expand", .convert = expand, .fold = fold_expand},
    {.name = "Tile", .convert = tile},
    {.name = "Slice", .convert = slice, .fold = fold_slice},
    {.name = "Gather", .convert = gather, .fold = fold_gather},
    {.name = "Range", .convert = range, .fold = fold_range, .note = "floats: constant limits"},
};

}  // namespace
}  // namespace relaxc::frontend

RELAXC_CONVERTERS(shape, kRows)
