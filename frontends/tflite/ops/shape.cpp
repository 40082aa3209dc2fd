// shape.cpp: operators that change the shape of a tensor, or only rearrange its elements.
#include <numeric>

#include "frontends/tflite/operators.h"

namespace relaxc::tflite::shape_family {
namespace {

/// Returns the new shape: that of the second input if it is known, else that of the options, else the declared shape of
/// the output (which is also used if the model computes the second input).
Ints new_shape(Node& node) {
  if (node.has(1)) {
    if (std::optional<Ints> known = node.known_ints(1)) return *known;
    return node.out().shape;
  }
  const auto* shape = node.options<tflite_schema::ReshapeOptions>().new_shape();
  return shape == nullptr ? node.out().shape : Ints(shape->begin(), shape->end());
}

Status reshape(Node& node) {
  Value* x = node.input(0);
  Ints from = node.dims(x), to = new_shape(node);
  if (!node.ok()) return node.status();
  int64_t elements = 1, known = 1, open = -1;
  for (int64_t extent : from) elements *= extent;
  for (size_t i = 0; i < to.size(); ++i) {
    bool fits = to[i] >= 0 ? !__builtin_mul_overflow(known, to[i], &known) : to[i] == -1 && open < 0;
    if (!fits) return node.error(Kind::invalid_value, "a shape of [{}]", fmt::join(to, ", "));
    if (to[i] == -1) open = static_cast<int64_t>(i);
  }
  if (open >= 0) {
    if (known == 0 || elements % known != 0)
      return node.error(Kind::shape_mismatch, "{} elements as [{}]", elements, fmt::join(to, ", "));
    to[static_cast<size_t>(open)] = elements / known;
    known = elements;
  }
  if (known != elements) return node.error(Kind::shape_mismatch, "{} elements as [{}]", elements, fmt::join(to, ", "));
  return node.set(node.call("reshape", {x, node.shape(to)}));
}

Status squeeze(Node& node) {
  const auto* axes = node.options<tflite_schema::SqueezeOptions>().squeeze_dims();
  Value* x = node.input(0);
  Ints dims = node.dims(x), gone, left;
  if (axes != nullptr) gone = node.axes(Ints(axes->begin(), axes->end()), static_cast<int64_t>(dims.size()));
  if (!node.ok()) return node.status();
  for (size_t i = 0; i < dims.size(); ++i) {
    bool named = std::find(gone.begin(), gone.end(), static_cast<int64_t>(i)) != gone.end();
    if (named && dims[i] != 1) return node.error(Kind::invalid_value, "dim {} is {}, not 1", i, dims[i]);
    if (!named && !(gone.empty() && dims[i] == 1)) left.push_back(dims[i]);
  }
  return node.set(node.call("reshape", {x, node.shape(left)}));
}

Status expand_dims(Node& node) {
  Value* x = node.input(0);
  Ints axes = node.constant_ints(1, "the axis");
  if (node.ok() && axes.size() != 1) return node.error(Kind::invalid_value, "{} axes; it takes one", axes.size());
  Ints dims = node.dims(x);
  int64_t axis = node.ok() ? node.axis(axes[0], static_cast<int64_t>(dims.size()) + 1) : 0;
  dims.insert(dims.begin() + axis, 1);
  return node.set(node.call("reshape", {x, node.shape(dims)}));
}

Status shape(Node& node) {
  Ints dims = node.dims(node.input(0));
  return node.set(
      node.list(node.result_type({TensorType::INT32, TensorType::INT64}), dims, {static_cast<int64_t>(dims.size())}));
}

Status rank(Node& node) {
  return node.set(node.number(DType::i(32), static_cast<double>(node.rank(node.input(0)))));
}

Status transpose(Node& node) {
  Value* x = node.input(0);
  Ints axes = node.constant_ints(1, "the order of axes");
  for (int64_t& axis : axes) axis = node.axis(axis, node.rank(x));
  return node.set(node.permute(x, axes));
}

/// Returns the shape to which two shapes broadcast; nothing if they do not.
std::optional<Ints> broadcast(const Ints& a, const Ints& b) {
  Ints out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    size_t back = out.size() - i;
    int64_t x = back > a.size() ? 1 : a[a.size() - back], y = back > b.size() ? 1 : b[b.size() - back];
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[i] = x == 1 ? y : x;
  }
  return out;
}

Status broadcast_args(Node& node) {
  Ints a = node.constant_ints(0, "the first shape"), b = node.constant_ints(1, "the second shape");
  if (!node.ok()) return node.status();
  std::optional<Ints> both = broadcast(a, b);
  if (!both) return node.error(Kind::shape_mismatch, "[{}] and [{}]", fmt::join(a, ", "), fmt::join(b, ", "));
  return node.set(
      node.list(node.result_type({TensorType::INT32, TensorType::INT64}), *both, {static_cast<int64_t>(both->size())}));
}

/// Returns the shape that input i holds; the output's declared shape if the model computes it.
Ints shape_in(Node& node, size_t i) {
  Ints dims = node.known_ints(i).value_or(node.out().shape);
  for (int64_t extent : dims)
    if (extent < 0) node.error(Kind::invalid_value, "a shape of [{}]", fmt::join(dims, ", "));
  return dims;
}

Status broadcast_to(Node& node) {
  return node.set(node.call("broadcast_to", {node.input(0), node.shape(shape_in(node, 1))}));
}

Status fill(Node& node) {
  Ints dims = shape_in(node, 0);
  return node.set(node.call("broadcast_to", {node.input(1), node.shape(dims)}));
}

Status zeros_like(Node& node) {
  Value* x = node.input(0);
  Ints dims = node.dims(x);
  return node.set(node.call("broadcast_to", {node.like(x, 0), node.shape(dims)}));
}

/// Moves blocks of rows and columns of x [N, H, W, C] into channels.
Status space_to_depth(Node& node) {
  int64_t block = node.options<tflite_schema::SpaceToDepthOptions>().block_size();
  Value* x = node.input(0);
  if (!node.expect_rank(x, 4, "the data")) return node.status();
  Ints d = node.dims(x);
  if (block < 1 || d[1] % block != 0 || d[2] % block != 0)
    return node.error(Kind::invalid_attribute, "blocks of {} in [{}]", block, fmt::join(d, ", "));
  x = node.reshape(x, {d[0], d[1] / block, block, d[2] / block, block, d[3]});
  x = node.permute(x, {0, 1, 3, 2, 4, 5});
  return node.set(node.reshape(x, {d[0], d[1] / block, d[2] / block, block * block * d[3]}));
}

Status depth_to_space(Node& node) {
  int64_t block = node.options<tflite_schema::DepthToSpaceOptions>().block_size();
  Value* x = node.input(0);
  if (!node.expect_rank(x, 4, "the data")) return node.status();
  Ints d = node.dims(x);
  if (block < 1 || block > 1 << 15 || d[3] % (block * block) != 0)
    return node.error(Kind::invalid_attribute, "blocks of {} in [{}]", block, fmt::join(d, ", "));
  x = node.reshape(x, {d[0], d[1], d[2], block, block, d[3] / (block * block)});
  x = node.permute(x, {0, 1, 3, 2, 4, 5});
  return node.set(node.reshape(x, {d[0], d[1] * block, d[2] * block, d[3] / (block * block)}));
}

/// Block sizes, and pairs of pads or crops, of the spatial dims.
struct Blocks {
  Ints sizes, borders;
};

std::optional<Blocks> read_blocks(Node& node, int64_t rank) {
  Blocks blocks{node.constant_ints(1, "the block's shape"), node.constant_ints(2, "the borders")};
  if (!node.ok()) return std::nullopt;
  auto spatial = static_cast<int64_t>(blocks.sizes.size());
  bool fits = spatial >= 1 && spatial < rank && blocks.borders.size() == 2 * blocks.sizes.size();
  for (int64_t size : blocks.sizes) fits = fits && size >= 1;
  for (int64_t border : blocks.borders) fits = fits && border >= 0;
  if (fits) return blocks;
  node.error(Kind::invalid_value, "blocks of [{}] with borders of [{}] in {} dims", fmt::join(blocks.sizes, ", "),
             fmt::join(blocks.borders, ", "), rank);
  return std::nullopt;
}

Status space_to_batch(Node& node) {
  Value* x = node.input(0);
  std::optional<Blocks> blocks = read_blocks(node, node.rank(x));
  if (!blocks) return node.status();
  auto rank = static_cast<size_t>(node.rank(x)), spatial = blocks->sizes.size();
  Ints pads(2 * rank, 0);
  for (size_t k = 0; k < spatial; ++k) {
    pads[k + 1] = blocks->borders[2 * k];
    pads[k + 1 + rank] = blocks->borders[2 * k + 1];
  }
  double zero = node.quantized() ? static_cast<double>(node.zero_of(node.in(0))) : 0;
  x = node.pad(x, pads, node.like(x, zero));
  Ints dims = node.dims(x), split{dims.empty() ? 0 : dims[0]}, axes, result{1};
  if (!node.ok()) return node.status();
  for (size_t k = 0; k < spatial; ++k) {
    if (dims[k + 1] % blocks->sizes[k] != 0)
      return node.error(Kind::shape_mismatch, "a dim of {} in blocks of {}", dims[k + 1], blocks->sizes[k]);
    split.push_back(dims[k + 1] / blocks->sizes[k]);
    split.push_back(blocks->sizes[k]);
    axes.push_back(static_cast<int64_t>(2 * k + 2));
    result[0] *= blocks->sizes[k];
    result.push_back(dims[k + 1] / blocks->sizes[k]);
  }
  result[0] *= dims[0];
  axes.push_back(0);
  for (size_t k = 0; k < spatial; ++k) axes.push_back(static_cast<int64_t>(2 * k + 1));
  for (size_t k = spatial + 1; k < rank; ++k) {
    axes.push_back(static_cast<int64_t>(split.size()));
    split.push_back(dims[k]);
    result.push_back(dims[k]);
  }
  return node.set(node.reshape(node.permute(node.reshape(x, split), axes), result));
}

Status batch_to_space(Node& node) {
  Value* x = node.input(0);
  std::optional<Blocks> blocks = read_blocks(node, node.rank(x));
  if (!blocks) return node.status();
  Ints dims = node.dims(x), split, axes, result;
  size_t spatial = blocks->sizes.size();
  int64_t batch = dims[0], whole = 1;
  for (int64_t size : blocks->sizes) {
    if (whole > batch / std::max<int64_t>(size, 1) + 1) break;
    whole *= size;
    split.push_back(size);
  }
  if (split.size() != spatial || batch % whole != 0)
    return node.error(Kind::shape_mismatch, "a batch of {} in blocks of [{}]", batch, fmt::join(blocks->sizes, ", "));
  split.push_back(batch / whole);
  axes.push_back(static_cast<int64_t>(spatial));
  result.push_back(batch / whole);
  for (size_t k = 1; k < dims.size(); ++k) {
    axes.push_back(static_cast<int64_t>(split.size()));
    split.push_back(dims[k]);
    if (k <= spatial) axes.push_back(static_cast<int64_t>(k - 1));
    result.push_back(k <= spatial ? dims[k] * blocks->sizes[k - 1] : dims[k]);
  }
  x = node.reshape(node.permute(node.reshape(x, split), axes), result);
  for (size_t k = 0; k < spatial; ++k) {
    int64_t begin = blocks->borders[2 * k], end = result[k + 1] - blocks->borders[2 * k + 1];
    if (begin > end) return node.error(Kind::invalid_value, "a crop of more than a dim");
    if (begin != 0 || end != result[k + 1]) x = node.slice(x, static_cast<int64_t>(k + 1), begin, end);
  }
  return node.set(x);
}

constexpr Row kRows[] = {
    {.code = BuiltinOperator::RESHAPE,
     .convert = reshape,
     .min_inputs = 1,
     .max_inputs = 2,
     .note = "a computed shape is assumed to be the declared one"},
    {.code = BuiltinOperator::SQUEEZE, .convert = squeeze},
    {.code = BuiltinOperator::EXPAND_DIMS, .convert = expand_dims, .min_inputs = 2, .max_inputs = 2},
    {.code = BuiltinOperator::SHAPE, .convert = shape},
    {.code = BuiltinOperator::RANK, .convert = rank},
    {.code = BuiltinOperator::TRANSPOSE, .convert = transpose, .min_inputs = 2, .max_inputs = 2},
    {.code = BuiltinOperator::BROADCAST_ARGS, .convert = broadcast_args, .min_inputs = 2, .max_inputs = 2},
    {.code = BuiltinOperator::BROADCAST_TO,
     .convert = broadcast_to,
     .min_inputs = 2,
     .max_inputs = 2,
     .note = "a computed shape is assumed to be the declared one"},
    {.code = BuiltinOperator::FILL,
     .convert = fill,
     .min_inputs = 2,
     .max_inputs = 2,
     .note = "a computed shape is assumed to be the declared one"},
    {.code = BuiltinOperator::ZEROS_LIKE, .convert = zeros_like},
    {.code = BuiltinOperator::SPACE_TO_DEPTH, .convert = space_to_depth},
    {.code = BuiltinOperator::DEPTH_TO_SPACE, .convert = depth_to_space},
    {.code = BuiltinOperator::SPACE_TO_BATCH_ND, .convert = space_to_batch, .min_inputs = 3, .max_inputs = 3},
    {.code = BuiltinOperator::BATCH_TO_SPACE_ND, .convert = batch_to_space, .min_inputs = 3, .max_inputs = 3},
};

}  // namespace
}  // namespace relaxc::tflite::shape_family

RELAXC_TFLITE_OPERATORS(shape, kRows)
