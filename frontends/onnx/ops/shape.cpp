// shape.cpp: operators that compute shapes, and operators that take one.
//
// Shape, Size and constants have known contents; operators that take a shape use the contents and, if they are not
// known, bind symbols to the tensor's elements. A Reshape target that is read at run time may contain 0 (keep) and -1
// (infer), which become selects; one that is computed from dims cannot.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "frontends/onnx/axes.h"
#include "frontends/onnx/composite.h"
#include "frontends/onnx/fold.h"
#include "frontends/onnx/importer.h"
#include "frontends/onnx/load.h"

namespace relaxc::frontend::shape_family {
namespace {

Expr product(Node& node, const std::vector<Expr>& dims) {
  Expr total = node.index(1);
  for (Expr extent : dims) total = total * extent;
  return total;
}

Status shape(Node& node) {
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
  RELAXC_TRY(const TensorInfo* x, node.info(0));
  node.set_known(0, Known{DType::i(64), {}, {product(node, *x->shape)}});
  return Done{};
}

Status set_strings(Node& node, const std::vector<int64_t>& dims, const std::vector<std::string>& values) {
  int64_t count = 1;
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) count = -1;
  if (count != static_cast<int64_t>(values.size()))
    return node.error(Kind::malformed_model, "there are {} strings, but the shape needs another number", values.size());
  node.importer().scope().slots[node.proto.output(0)] = strings_constant(node.builder(), dims, values);
  return Done{};
}

Status constant(Node& node) {
  if (const auto* value = node.attribute("value")) {
    if (value->t().data_type() == onnx::TensorProto::STRING)
      return set_strings(node, {value->t().dims().begin(), value->t().dims().end()},
                         {value->t().string_data().begin(), value->t().string_data().end()});
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
  if (const auto* value = node.attribute("value_string")) return set_strings(node, {}, {value->s()});
  if (const auto* value = node.attribute("value_strings"))
    return set_strings(node, {value->strings_size()}, {value->strings().begin(), value->strings().end()});
  if (node.has_attr("sparse_value")) return node.error(Kind::unsupported, "sparse constants are not supported");
  return node.error(Kind::invalid_attribute,
                    "a Constant needs an attribute with its value: value, value_float, value_ints, …");
}

Status constant_of_shape(Node& node) {
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

/// Removes symbols that are on both sides. A dim inferred from the others stays the same; where such a symbol is 0, it
/// is the dim that any other value of the symbol would give.
void cancel_common(std::vector<Expr>& from, std::vector<Expr>& target) {
  for (size_t i = 0; i < target.size();) {
    auto same = std::find(from.begin(), from.end(), target[i]);
    bool both = target[i].constant() == nullptr && same != from.end();
    if (both) {
      from.erase(same);
      target.erase(target.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

/// Returns whether `e` may be read from data and hence a marker: 0 (keep) or -1 (infer). An expression of sizes alone
/// is meant as a size; a guard refuses it where it is negative.
bool may_be_marker(Node& node, Expr e) {
  if (e.constant() != nullptr || node.bounds(e).lower >= 0) return false;
  std::vector<arith::Var> vars = arith::free_vars(e);
  return std::any_of(vars.begin(), vars.end(), [&](arith::Var v) { return node.facts().range_of(v).lower < 0; });
}

/// Returns the dims that a Reshape target means for an operand of dims `from`.
Result<std::vector<Expr>> reshape_dims(Node& node, const std::vector<Expr>& from, std::vector<Expr> target,
                                       bool allow_zero) {
  Expr zero = node.index(0), minus_one = node.index(-1);
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
    } else if (may_be_marker(node, target[i])) {
      may_infer[i] = true;
      if (!allow_zero && i < from.size()) target[i] = arith::select(arith::eq(target[i], zero), from[i], target[i]);
    }
  }
  std::vector<Expr> extents = from, others;
  for (size_t i = 0; i < target.size(); ++i) {
    if (i == inferred) continue;
    Expr one = node.index(1);
    others.push_back(may_infer[i] ? arith::select(arith::eq(target[i], minus_one), one, target[i]) : target[i]);
  }
  cancel_common(extents, others);
  Expr total = product(node, extents), rest = product(node, others);
  if (rest.is_constant(0) && inferred != target.size())
    return node.error(Kind::invalid_value, "a dim of -1 is ambiguous beside one of 0");
  Expr left = arith::floordiv(total, arith::max(rest, node.index(1)));
  if (node.bounds(rest).lower >= 1 || inferred != target.size()) left = arith::floordiv(total, rest);
  for (size_t i = 0; i < target.size(); ++i) {
    if (i == inferred) target[i] = left;
    if (may_infer[i]) target[i] = arith::select(arith::eq(target[i], minus_one), left, target[i]);
    target[i] = node.simplify(target[i]);
  }
  return target;
}

Status reshape_node(Node& node) {
  RELAXC_TRY(const TensorInfo* info, node.info(0));
  std::vector<Expr> from = *info->shape, target;
  if (node.opset < 5) {
    target = node.indices(node.ints_attr("shape"));
  } else {
    RELAXC_TRY(target, node.ints(1));
  }
  RELAXC_TRY(target, reshape_dims(node, from, std::move(target), node.int_attr("allowzero", 0) != 0));
  RELAXC_TRY(Value * x, node.input(0));
  return node.set(0, reshape(node, x, std::move(target)));
}

/// Sets the output to known contents in another shape; returns false if they are unknown or do not fit.
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

/// Returns the axes of Squeeze or Unsqueeze: an attribute before opset 13, an input since; nullopt if absent.
Result<std::optional<std::vector<Expr>>> axes_of(Node& node, int64_t rank, bool added) {
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
  return Axes(node.indices(given));
}

Status unsqueeze(Node& node) {
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

/// Returns whether Squeeze without axes removes an open dim. A program has one rank: the declared shapes decide which;
/// without them the dim stays, and runs in which it is 1 are refused.
Result<bool> squeezes_open(Node& node, Expr extent) {
  Diagnostics& diag = node.diag;
  GraphImporter& importer = node.importer();
  importer.squeezed_open_dim = true;
  if (importer.open_squeeze == OpenSqueeze::kKept) return false;
  if (importer.open_squeeze == OpenSqueeze::kRemoved) {
    RELAXC_DO(expect(node, arith::eq(extent, node.index(1))));
    return true;
  }
  diag.warning(node.location, Kind::rank_mismatch,
               "without axes the rank depends on whether {} is 1; runs in which it is are refused, unless the axes are "
               "named, or the shape of an output is declared that says which rank is meant",
               arith::to_string(extent));
  RELAXC_DO(expect(node, arith::ne(extent, node.index(1))));
  return false;
}

Status squeeze(Node& node) {
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
    for (size_t i = 0; i < from.size(); ++i) {
      bool goes = from[i].is_constant(1);
      if (from[i].constant() == nullptr) {
        RELAXC_TRY(goes, squeezes_open(node, from[i]));
      }
      if (goes) which.push_back(static_cast<int64_t>(i));
    }
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

/// Reshapes [d0, …, dn] to [d0 * … * d(axis-1), d(axis) * … * dn].
Status flatten(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  int64_t rank = static_cast<int64_t>(x->shape().size()), axis = node.int_attr("axis", 1);
  if (axis < -rank || axis > rank)
    return node.error(Kind::invalid_attribute, "axis {} is outside {}..{}", axis, -rank, rank);
  if (axis < 0) axis += rank;
  const std::vector<Expr>& dims = x->shape();
  std::vector<Expr> rows(dims.begin(), dims.begin() + axis), columns(dims.begin() + axis, dims.end());
  return node.set(0, reshape(node, x, {node.simplify(product(node, rows)), node.simplify(product(node, columns))}));
}

Status expand(Node& node) {
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

/// Converts Tile. In opset 1, inputs are `tiles` and `axis`; later `repeats` for all axes.
Status tile(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  if (node.opset >= 6) {
    RELAXC_TRY(std::vector<Expr> repeats, node.ints(1, static_cast<int64_t>(x->shape().size())));
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

/// Converts a Range of floats whose limits are known only at run time; the count is computed in float64.
Status range_at_run_time(Node& node) {
  std::vector<Value*> given, wide;
  for (size_t i = 0; i < 3; ++i) {
    RELAXC_TRY(Value * value, node.input(i));
    RELAXC_TRY(value, reshape(node, value, {}));
    given.push_back(value);
    RELAXC_TRY(value, astype(node, value, DType::f(64)));
    wide.push_back(value);
  }
  RELAXC_TRY(Value * distance, node.call("subtract", {wide[1], wide[0]}));
  RELAXC_TRY(Value * steps, node.call("divide", {distance, wide[2]}));
  RELAXC_TRY(steps, node.call("ceil", {steps}));
  // A delta of 0 or a NaN limit makes the count infinite, which is refused when the size is read.
  Value *zero = node.scalar(DType::f(64), 0), *endless = node.scalar(DType::f(64), HUGE_VAL);
  RELAXC_TRY(Value * moves, node.call("not_equal", {wide[2], zero}));
  RELAXC_TRY(Value * away, node.call("less", {steps, zero}));
  RELAXC_TRY(Value * empty, node.call("logical_and", {moves, away}));
  RELAXC_TRY(Value * counted, node.call("greater_equal", {steps, zero}));
  RELAXC_TRY(steps, node.call("where", {counted, steps, endless}));
  RELAXC_TRY(steps, node.call("where", {empty, zero, steps}));
  RELAXC_TRY(std::vector<Expr> count, values_of(node, steps));
  return node.set(0, node.call("range_of", {given[0], given[2], node.shape(std::move(count))}));
}

/// Converts Range, which has max(0, ceil((limit - start) / delta)) elements.
Status range(Node& node) {
  RELAXC_TRY(const TensorInfo* type, node.info(0));
  DType dtype = *type->dtype;
  if (dtype == DType::i(64) || dtype == DType::i(32)) {
    std::vector<Expr> bounds;
    for (size_t i = 0; i < 3; ++i) {
      RELAXC_TRY(std::vector<Expr> value, node.ints(i, 1));
      bounds.push_back(value[0]);
    }
    if (bounds[2].is_constant(0)) return node.error(Kind::invalid_value, "delta is 0");
    Expr zero = node.index(0), distance = bounds[1] - bounds[0], delta = bounds[2];
    RELAXC_DO(expect(node, arith::ne(delta, zero)));
    arith::Range sign = node.bounds(delta);
    Expr up = arith::ceildiv(distance, delta), down = arith::ceildiv(zero - distance, zero - delta), count = up;
    if (sign.upper < 0) count = down;
    if (sign.lower <= 0 && sign.upper >= 0) count = arith::select(arith::lt(delta, zero), down, up);
    count = node.simplify(arith::max(zero, count));
    return node.set(0, node.call("arange", {node.shape({bounds[0], count, delta})}, {{"dtype", dtype}}));
  }
  std::optional<double> start = node.constant_scalar(0), limit = node.constant_scalar(1),
                        delta = node.constant_scalar(2);
  if (!start || !limit || !delta) return range_at_run_time(node);
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
    {.name = "Shape", .convert = shape, .strings = Converter::Strings::kSized},
    {.name = "Size", .convert = size, .strings = Converter::Strings::kSized},
    {.name = "Constant", .convert = constant, .note = "no sparse constants"},
    {.name = "ConstantOfShape", .convert = constant_of_shape, .fold = fold_constant_of_shape},
    {.name = "Reshape", .convert = reshape_node, .fold = fold_reshape, .strings = Converter::Strings::kMoved},
    {.name = "Unsqueeze", .convert = unsqueeze, .strings = Converter::Strings::kMoved},
    {.name = "Squeeze", .convert = squeeze, .strings = Converter::Strings::kMoved},
    {.name = "Flatten", .convert = flatten, .strings = Converter::Strings::kMoved},
    {.name = "Expand", .convert = expand, .fold = fold_expand, .strings = Converter::Strings::kMoved},
    {.name = "Tile", .convert = tile, .strings = Converter::Strings::kMoved},
    {.name = "Range", .convert = range, .fold = fold_range},
};

}  // namespace
}  // namespace relaxc::frontend::shape_family

RELAXC_CONVERTERS(shape, kRows)
