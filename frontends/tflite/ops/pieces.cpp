// pieces.cpp: operators that take parts of tensors, or assemble tensors from parts.
#include <cmath>
#include <numeric>

#include "frontends/tflite/operators.h"

namespace relaxc::tflite::pieces_family {
namespace {

constexpr int64_t kMostListed = 1 << 22;  ///< maximum extent of a dim whose indices are listed

/// What STRIDED_SLICE does to one dim of its operand.
struct Range {
  int64_t begin = 0, end = 0, step = 1;
  bool gone = false;  ///< takes one element and removes the dim
};

/// Reads the entries of STRIDED_SLICE: each is for a dim of the operand, a new dim, or an ellipsis.
class SliceReader {
 public:
  explicit SliceReader(Node& node) : node_(node), o_(node.options<tflite_schema::StridedSliceOptions>()) {}

  bool read(const Ints& dims) {
    Ints begin = node_.constant_ints(1, "the begin"), end = node_.constant_ints(2, "the end"),
         step = node_.constant_ints(3, "the strides");
    if (!node_.ok()) return false;
    if (end.size() != begin.size() || step.size() != begin.size() || begin.size() > 31) return fail();
    size_t named = 0, at = 0;
    for (size_t i = 0; i < begin.size(); ++i) named += bit(o_.new_axis_mask(), i) || bit(o_.ellipsis_mask(), i) ? 0 : 1;
    if (named > dims.size()) return fail();
    bool skipped = false;
    for (size_t i = 0; i < begin.size(); ++i) {
      if (bit(o_.ellipsis_mask(), i)) {
        if (std::exchange(skipped, true)) return fail();
        for (size_t k = 0; k < dims.size() - named; ++k) take(dims[at++]);
      } else if (bit(o_.new_axis_mask(), i)) {
        shape.push_back(1);
      } else if (!take(dims[at++], begin[i], end[i], step[i], i)) {
        return fail();
      }
    }
    while (at < dims.size()) take(dims[at++]);
    return true;
  }

  std::vector<Range> ranges;  ///< one for each of the operand's dims
  Ints shape;                 ///< shape of the result

 private:
  static bool bit(int32_t mask, size_t i) { return (mask >> i & 1) != 0; }

  bool fail() {
    node_.error(Kind::invalid_value, "begins, ends and strides do not fit the operand or each other");
    return false;
  }

  void take(int64_t extent) {
    ranges.push_back({0, extent, 1, false});
    shape.push_back(extent);
  }

  bool take(int64_t extent, int64_t begin, int64_t end, int64_t step, size_t i) {
    if (step == 0) return false;
    auto from_end = [&](int64_t at) { return at < 0 ? at + extent : at; };
    if (bit(o_.shrink_axis_mask(), i)) {
      int64_t at = bit(o_.begin_mask(), i) ? (step > 0 ? 0 : extent - 1) : from_end(begin);
      if (at < 0 || at >= extent) return false;
      ranges.push_back({at, at + 1, 1, true});
      return true;
    }
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
    int64_t first = bit(o_.begin_mask(), i) ? (step > 0 ? low : high) : std::clamp(from_end(begin), low, high);
    // With `offset`, the end is relative to the begin.
    int64_t until = o_.offset() ? first + end : from_end(end);
    int64_t last = bit(o_.end_mask(), i) ? (step > 0 ? high : low) : std::clamp(until, low, high);
    int64_t span = step > 0 ? last - first : first - last, by = std::abs(step);
    ranges.push_back({first, last, step, false});
    shape.push_back(span <= 0 ? 0 : (span + by - 1) / by);
    return true;
  }

  Node& node_;
  const tflite_schema::StridedSliceOptions& o_;
};

/// Returns the elements of a range along an axis; one with a negative step is sliced forwards and flipped.
Value* ranged(Node& node, Value* x, int64_t axis, const Range& r, int64_t extent) {
  if (r.step > 0) {
    if (r.begin == 0 && r.end == extent && r.step == 1) return x;
    return node.slice(x, axis, r.begin, std::max(r.begin, r.end), std::min<int64_t>(r.step, INT32_MAX));
  }
  int64_t by = -r.step, count = r.begin <= r.end ? 0 : (r.begin - r.end + by - 1) / by;
  if (count == 0) return node.slice(x, axis, 0, 0);
  Value* forwards = node.slice(x, axis, r.begin - (count - 1) * by, r.begin + 1, by);
  return node.call("flip", {forwards}, {{"axis", Ints{axis}}});
}

Status strided_slice(Node& node) {
  Value* x = node.input(0);
  Ints dims = node.dims(x);
  SliceReader reader(node);
  if (!node.ok() || !reader.read(dims)) return node.status();
  for (size_t k = 0; k < dims.size(); ++k) x = ranged(node, x, static_cast<int64_t>(k), reader.ranges[k], dims[k]);
  return node.set(node.call("reshape", {x, node.shape(reader.shape)}));
}

/// A size of -1 reaches to the end. A size that the model computes is assumed to be the declared output shape.
Status slice(Node& node) {
  Value* x = node.input(0);
  Ints dims = node.dims(x);
  Ints size = node.known_ints(2).value_or(node.out().shape), begin = node.constant_ints(1, "the begin");
  if (!node.ok()) return node.status();
  if (begin.size() != dims.size() || size.size() != dims.size())
    return node.error(Kind::invalid_value, "a begin of {} and a size of {} numbers for {} dims", begin.size(),
                      size.size(), dims.size());
  for (size_t k = 0; k < dims.size(); ++k) {
    int64_t count = size[k] == -1 ? dims[k] - begin[k] : size[k];
    if (begin[k] < 0 || count < 0 || begin[k] > dims[k] || count > dims[k] - begin[k])
      return node.error(Kind::invalid_value, "{} elements from {} on of a dim of {}", size[k], begin[k], dims[k]);
    if (count != dims[k]) x = node.slice(x, static_cast<int64_t>(k), begin[k], begin[k] + count);
  }
  return node.set(x == node.input(0) ? node.reshape(x, dims) : x);
}

Status give_parts(Node& node, Value* x, int64_t axis, const Ints& sizes) {
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    Value* part = sizes.size() == 1 ? x : node.slice(x, axis, at, at + sizes[i]);
    at += sizes[i];
    RELAXC_DO(node.set(i, part));
  }
  return node.status();
}

Status split(Node& node) {
  Ints axes = node.constant_ints(0, "the axis");
  Value* x = node.input(1);
  Ints dims = node.dims(x);
  if (!node.ok()) return node.status();
  int64_t axis = node.axis(axes.at(0), static_cast<int64_t>(dims.size()));
  auto parts = static_cast<int64_t>(node.outputs());
  if (!node.ok()) return node.status();
  int64_t extent = dims[static_cast<size_t>(axis)];
  if (parts < 1 || extent % parts != 0)
    return node.error(Kind::invalid_value, "a dim of {} in {} parts", extent, parts);
  return give_parts(node, x, axis, Ints(static_cast<size_t>(parts), extent / parts));
}

Status split_v(Node& node) {
  Value* x = node.input(0);
  Ints dims = node.dims(x), sizes = node.constant_ints(1, "the sizes"), axes = node.constant_ints(2, "the axis");
  if (!node.ok()) return node.status();
  int64_t axis = node.axis(axes.at(0), static_cast<int64_t>(dims.size()));
  if (!node.ok()) return node.status();
  int64_t extent = dims[static_cast<size_t>(axis)], rest = extent, open = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1 && open < 0)
      open = static_cast<int64_t>(i);
    else if (sizes[i] < 0 || sizes[i] > rest)
      rest = -1;
    else
      rest -= sizes[i];
    if (rest < 0) break;
  }
  if (sizes.size() != node.outputs() || rest < 0 || (open < 0 && rest != 0))
    return node.error(Kind::invalid_value, "a dim of {} in parts of [{}]", extent, fmt::join(sizes, ", "));
  if (open >= 0) sizes[static_cast<size_t>(open)] = rest;
  return give_parts(node, x, axis, sizes);
}

/// Converts an operand with another scale to the result's by a table, in float32, rounded to nearest.
Value* in_scale_of_result(Node& node, Value* x, size_t i) {
  const Quantization &in = node.in(i).quantization, &out = node.out().quantization;
  if (in.scale == out.scale && in.zero_point == out.zero_point) return x;
  if (node.type(i) != TensorType::UINT8)
    return node.refuse("operand {} has another scale than the result, which is supported for uint8 only", i);
  float scale = node.scale_of(node.in(i)) * (1.0F / node.scale_of(node.out()));
  float bias = static_cast<float>(-node.zero_of(node.in(i))) * scale;
  int64_t zero = node.zero_of(node.out());
  Ints table;
  for (int stored = 0; stored < 256; ++stored) {
    auto steps = static_cast<double>(std::round(static_cast<float>(stored) * scale + bias));
    table.push_back(static_cast<int64_t>(std::clamp(steps + static_cast<double>(zero), 0.0, 255.0)));
  }
  return node.look_up(x, table, DType::u(8));
}

Status concatenation(Node& node) {
  const auto& o = node.options<tflite_schema::ConcatenationOptions>();
  std::vector<Value*> parts = node.all_inputs();
  if (!node.ok()) return node.status();
  int64_t axis = node.axis(o.axis(), node.rank(parts[0]));
  for (size_t i = 0; i < parts.size(); ++i)
    if (node.quantized(i)) parts[i] = in_scale_of_result(node, parts[i], i);
  Value* y = parts.size() == 1 ? node.reshape(parts[0], node.dims(parts[0])) : node.concat(parts, axis);
  if (node.type() != TensorType::FLOAT32 && o.fused_activation_function() != Node::Activation::NONE)
    return node.error(Kind::unsupported, "an activation of integers is not supported");
  return node.set(node.activate(y, o.fused_activation_function()));
}

Status pack(Node& node) {
  const auto& o = node.options<tflite_schema::PackOptions>();
  std::vector<Value*> parts = node.all_inputs();
  if (!node.ok()) return node.status();
  Ints dims = node.dims(parts[0]);
  int64_t axis = node.axis(o.axis(), static_cast<int64_t>(dims.size()) + 1);
  dims.insert(dims.begin() + axis, 1);
  for (Value*& part : parts) part = node.reshape(part, dims);
  return node.set(node.concat(parts, axis));
}

Status unpack(Node& node) {
  const auto& o = node.options<tflite_schema::UnpackOptions>();
  Value* x = node.input(0);
  Ints dims = node.dims(x);
  int64_t axis = node.axis(o.axis(), static_cast<int64_t>(dims.size()));
  if (!node.ok()) return node.status();
  int64_t extent = dims[static_cast<size_t>(axis)];
  if (extent != static_cast<int64_t>(node.outputs()))
    return node.error(Kind::wrong_arity, "a dim of {} for {} outputs", extent, node.outputs());
  dims.erase(dims.begin() + axis);
  for (int64_t i = 0; i < extent; ++i)
    RELAXC_DO(
        node.set(static_cast<size_t>(i), node.call("reshape", {node.slice(x, axis, i, i + 1), node.shape(dims)})));
  return node.status();
}

/// Returns the padding of all dims: first the counts at the beginnings, then those at the ends.
std::optional<Ints> read_pads(Node& node, int64_t rank) {
  Ints pairs = node.constant_ints(1, "the pads"), pads;
  if (!node.ok()) return std::nullopt;
  bool fits = static_cast<int64_t>(pairs.size()) == 2 * rank;
  for (int64_t pad : pairs) fits = fits && pad >= 0 && pad <= INT32_MAX;
  if (!fits) {
    node.error(Kind::invalid_value, "pads of [{}] for {} dims", fmt::join(pairs, ", "), rank);
    return std::nullopt;
  }
  for (size_t side : {0, 1})
    for (size_t k = 0; k < static_cast<size_t>(rank); ++k) pads.push_back(pairs[2 * k + side]);
  return pads;
}

Status pad(Node& node) {
  Value* x = node.input(0);
  std::optional<Ints> pads = read_pads(node, node.rank(x));
  if (!pads) return node.status();
  Value* value = node.has(2) ? node.reshape(node.input(2), {})
                             : node.like(x, node.quantized() ? static_cast<double>(node.zero_of(node.in(0))) : 0);
  Value* y = node.pad(x, *pads, value);
  return node.set(y == x ? node.call("identity", {x}) : y);
}

/// Takes indices that mirror a dim at its ends; SYMMETRIC repeats the edge.
Status mirror_pad(Node& node) {
  bool symmetric = node.options<tflite_schema::MirrorPadOptions>().mode() == tflite_schema::MirrorPadMode::SYMMETRIC;
  Value* x = node.input(0);
  Ints dims = node.dims(x);
  std::optional<Ints> pads = read_pads(node, static_cast<int64_t>(dims.size()));
  if (!pads) return node.status();
  for (size_t k = 0; k < dims.size(); ++k) {
    int64_t begin = (*pads)[k], end = (*pads)[k + dims.size()], most = symmetric ? dims[k] : dims[k] - 1;
    if (begin > most || end > most)
      return node.error(Kind::invalid_value, "a mirrored pad longer than a dim of {}", dims[k]);
    if (begin == 0 && end == 0) continue;
    if (dims[k] > kMostListed) return node.error(Kind::unsupported, "a mirrored dim of {}", dims[k]);
    Ints places;
    for (int64_t i = -begin; i < dims[k] + end; ++i) {
      int64_t skip = symmetric ? 1 : 0;
      places.push_back(i < 0 ? -i - skip : i >= dims[k] ? 2 * dims[k] - 2 + skip - i : i);
    }
    x = node.call("take", {x, node.list(DType::i(32), places)}, {{"axis", static_cast<int64_t>(k)}});
  }
  return node.set(x == node.input(0) ? node.call("identity", {x}) : x);
}

Status gather(Node& node) {
  const auto& o = node.options<tflite_schema::GatherOptions>();
  Value *x = node.input(0), *indices = node.input(1);
  int64_t axis = node.axis(o.axis(), node.rank(x));
  int64_t batch = o.batch_dims() < 0 ? o.batch_dims() + node.rank(indices) : o.batch_dims();
  if (!node.ok()) return node.status();
  if (batch == 0) return node.set(node.call("take", {x, indices}, {{"axis", axis}}));
  if (batch < 0 || batch > axis || batch > node.rank(indices))
    return node.error(Kind::invalid_attribute, "{} batch dims before axis {}", o.batch_dims(), axis);
  // Move the axis right after the batch dims; afterwards move the picked dims back behind those in between.
  Ints axes(static_cast<size_t>(node.rank(x)));
  std::iota(axes.begin(), axes.end(), 0);
  std::rotate(axes.begin() + batch, axes.begin() + axis, axes.begin() + axis + 1);
  Ints dims = node.dims(indices);
  dims.push_back(1);
  Value* y = node.call("gather_nd", {node.permute(x, axes), node.reshape(indices, dims)}, {{"batch_dims", batch}});
  Ints back(static_cast<size_t>(node.rank(y)));
  std::iota(back.begin(), back.end(), 0);
  int64_t picked = node.rank(indices) - batch, between = axis - batch;
  std::rotate(back.begin() + batch, back.begin() + batch + picked, back.begin() + batch + picked + between);
  return node.set(node.permute(y, back));
}

Status gather_nd(Node& node) {
  return node.set(node.call("gather_nd", {node.input(0), node.input(1)}));
}

/// Takes rows of a table (input 1) by their numbers (input 0).
Status embedding_lookup(Node& node) {
  Value *rows = node.input(0), *table = node.input(1);
  if (!node.ok()) return node.status();
  Value* y = node.call("take", {table, rows}, {{"axis", int64_t{0}}});
  if (table->dtype().is_float() || node.out().type != TensorType::FLOAT32) return node.set(y);
  const Tensor& tensor = node.in(1);
  Value* scale = node.number(DType::f(32), node.scale_of(tensor));
  return node.set(node.multiply(node.f32(y), scale));
}

Status tile(Node& node) {
  Ints repeats = node.constant_ints(1, "the repeats");
  for (int64_t repeat : repeats)
    if (repeat < 0) return node.error(Kind::invalid_value, "repeats of [{}]", fmt::join(repeats, ", "));
  return node.set(node.call("tile", {node.input(0), node.shape(repeats)}));
}

Status reverse(Node& node) {
  Value* x = node.input(0);
  Ints axes = node.axes(node.constant_ints(1, "the axes"), node.rank(x));
  return node.set(node.call("flip", {x}, {{"axis", axes}}));
}

/// Writes `update` over the part of x that starts at `start`, which is clamped so that the part lies inside of x.
Status dynamic_update_slice(Node& node) {
  Value *x = node.input(0), *update = node.input(1), *start = node.input(2);
  Ints dims = node.dims(x), part = node.dims(update), most;
  if (!node.ok()) return node.status();
  if (part.size() != dims.size())
    return node.error(Kind::rank_mismatch, "operands of {} and {} dims", dims.size(), part.size());
  for (size_t k = 0; k < dims.size(); ++k) {
    if (part[k] > dims[k]) return node.error(Kind::shape_mismatch, "an update of {} in a dim of {}", part[k], dims[k]);
    if (dims[k] > kMostListed) return node.error(Kind::unsupported, "an update in a dim of {}", dims[k]);
    most.push_back(dims[k] - part[k]);
  }
  // Each element of the result comes from `update` or x; `update` is read at clamped indices everywhere.
  start = node.i32(start);
  if (dims.empty()) return node.set(update);
  Value* last = node.list(DType::i(32), most);
  start = node.minimum(node.maximum(start, node.like(start, 0)), last);
  Value *inside = nullptr, *read = update;
  for (size_t k = 0; k < dims.size(); ++k) {
    Ints places(static_cast<size_t>(dims[k])), shape(dims.size(), 1);
    std::iota(places.begin(), places.end(), 0);
    shape[k] = dims[k];
    Value* begin = node.reshape(node.slice(start, 0, static_cast<int64_t>(k), static_cast<int64_t>(k) + 1), {});
    Value* at = node.subtract(node.list(DType::i(32), places), begin);
    Value* here = node.call("logical_and", {node.call("greater_equal", {at, node.like(at, 0)}),
                                            node.call("less", {at, node.like(at, static_cast<double>(part[k]))})});
    here = node.reshape(here, shape);
    inside = inside == nullptr ? here : node.call("logical_and", {inside, here});
    if (part[k] > 0)
      read = node.call("take", {read, at}, {{"axis", static_cast<int64_t>(k)}, {"mode", std::string("clip")}});
  }
  if (std::find(part.begin(), part.end(), 0) != part.end()) return node.set(node.call("identity", {x}));
  return node.set(node.where(inside, read, x));
}

constexpr Row kRows[] = {
    {.code = BuiltinOperator::STRIDED_SLICE,
     .convert = strided_slice,
     .min_inputs = 4,
     .max_inputs = 4,
     .note = "begins, ends and strides must be constants"},
    {.code = BuiltinOperator::SLICE,
     .convert = slice,
     .min_inputs = 3,
     .max_inputs = 3,
     .note = "begin must be constant"},
    {.code = BuiltinOperator::SPLIT, .convert = split, .min_inputs = 2, .max_inputs = 2, .outputs = -1, .typed = 1},
    {.code = BuiltinOperator::SPLIT_V, .convert = split_v, .min_inputs = 3, .max_inputs = 3, .outputs = -1},
    {.code = BuiltinOperator::CONCATENATION,
     .convert = concatenation,
     .max_inputs = kMany,
     .rounding = "uint8 with another scale: float32, ties away from zero",
     .note = "int8 and int16 operands and results must have one scale"},
    {.code = BuiltinOperator::PACK, .convert = pack, .max_inputs = kMany},
    {.code = BuiltinOperator::UNPACK, .convert = unpack, .outputs = -1},
    {.code = BuiltinOperator::PAD, .convert = pad, .min_inputs = 2, .max_inputs = 2, .note = "pads must be constants"},
    {.code = BuiltinOperator::PADV2,
     .convert = pad,
     .min_inputs = 3,
     .max_inputs = 3,
     .note = "pads must be constants"},
    {.code = BuiltinOperator::MIRROR_PAD,
     .convert = mirror_pad,
     .min_inputs = 2,
     .max_inputs = 2,
     .note = "pads must be constants"},
    {.code = BuiltinOperator::GATHER, .convert = gather, .min_inputs = 2, .max_inputs = 2},
    {.code = BuiltinOperator::GATHER_ND, .convert = gather_nd, .min_inputs = 2, .max_inputs = 2},
    {.code = BuiltinOperator::EMBEDDING_LOOKUP,
     .convert = embedding_lookup,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kF32 | kI8 | kU8,
     .typed = 1},
    {.code = BuiltinOperator::TILE,
     .convert = tile,
     .min_inputs = 2,
     .max_inputs = 2,
     .note = "repeats must be constants"},
    {.code = BuiltinOperator::REVERSE_V2, .convert = reverse, .min_inputs = 2, .max_inputs = 2},
    {.code = BuiltinOperator::DYNAMIC_UPDATE_SLICE, .convert = dynamic_update_slice, .min_inputs = 3, .max_inputs = 3},
};

}  // namespace
}  // namespace relaxc::tflite::pieces_family

RELAXC_TFLITE_OPERATORS(pieces, kRows)
