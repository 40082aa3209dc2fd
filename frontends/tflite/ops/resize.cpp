// resize.cpp: resizing of images.
//
// Sizes are known, so this file computes which rows and columns are read, and with what weights: nearest takes rows and
// columns, bilinear combines four takes by weights. Stored integers are interpolated as TFLite does: int8 and int16 in
// fixed point with 10-bit weights, uint8 in float32.
#include <cmath>

#include "frontends/tflite/operators.h"

namespace relaxc::tflite::resize_family {
namespace {

constexpr int64_t kMostPlaces = 1 << 20;  ///< maximum rows or columns of a result

struct Sampling {
  bool align_corners = false, half_pixel_centers = false;
};

/// Returns the rows and columns of the result.
std::optional<Ints> read_sizes(Node& node, Value* x) {
  Ints sizes = node.constant_ints(1, "the size");
  if (!node.expect_rank(x, 4, "the data")) return std::nullopt;
  Ints dims = node.dims(x);
  bool fits = node.ok() && sizes.size() == 2 && sizes[0] >= 1 && sizes[1] >= 1 && sizes[0] <= kMostPlaces &&
              sizes[1] <= kMostPlaces && dims[1] >= 1 && dims[2] >= 1;
  if (node.ok() && !fits) node.error(Kind::invalid_value, "a size of [{}]", fmt::join(sizes, ", "));
  return fits ? std::optional(sizes) : std::nullopt;
}

float step_of(int64_t from, int64_t to, bool align_corners) {
  return align_corners && to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
                                 : static_cast<float>(from) / static_cast<float>(to);
}

Value* take(Node& node, Value* x, const Ints& places, int64_t axis) {
  return node.call("take", {x, node.list(DType::i(32), places)}, {{"axis", axis}});
}

Ints nearest_places(int64_t from, int64_t to, const Sampling& s) {
  float step = step_of(from, to, s.align_corners), offset = s.half_pixel_centers ? 0.5F : 0.0F;
  Ints places;
  for (int64_t i = 0; i < to; ++i) {
    float at = (static_cast<float>(i) + offset) * step;
    auto place = static_cast<int64_t>(s.align_corners ? std::round(at) : std::floor(at));
    place = std::min(place, from - 1);
    places.push_back(s.half_pixel_centers ? std::max<int64_t>(place, 0) : place);
  }
  return places;
}

Status nearest(Node& node) {
  const auto& o = node.options<tflite_schema::ResizeNearestNeighborOptions>();
  Sampling sampling{o.align_corners(), o.half_pixel_centers()};
  Value* x = node.input(0);
  std::optional<Ints> sizes = read_sizes(node, x);
  if (!sizes) return node.status();
  Ints dims = node.dims(x);
  x = take(node, x, nearest_places(dims[1], (*sizes)[0], sampling), 1);
  return node.set(take(node, x, nearest_places(dims[2], (*sizes)[1], sampling), 2));
}

/// For each result, the two indices that it lies between, and the weight of the upper one.
template <typename T>
struct Between {
  Ints lower, upper;
  std::vector<T> share;
};

Between<float> float_places(int64_t from, int64_t to, const Sampling& s) {
  Between<float> b;
  float step = step_of(from, to, s.align_corners);
  for (int64_t i = 0; i < to; ++i) {
    float at = s.half_pixel_centers ? (static_cast<float>(i) + 0.5F) * step - 0.5F : static_cast<float>(i) * step;
    float whole = std::floor(at);
    auto lower = std::max<int64_t>(static_cast<int64_t>(whole), 0);
    b.lower.push_back(std::min(lower, from - 1));
    b.upper.push_back(std::min(static_cast<int64_t>(std::ceil(at)), from - 1));
    b.upper.back() = std::max<int64_t>(b.upper.back(), 0);
    b.share.push_back(at - static_cast<float>(lower));
  }
  return b;
}

/// Same, with weights in units of 1/1024.
Between<int64_t> fixed_places(int64_t from, int64_t to, const Sampling& s) {
  Between<int64_t> b;
  int64_t step = ((int64_t{1} << 10) * from + to / 2) / to;
  if (s.align_corners && to > 1) step = ((int64_t{1} << 10) * (from - 1) + (to - 1) / 2) / (to - 1);
  for (int64_t i = 0; i < to; ++i) {
    int64_t at = s.half_pixel_centers ? i * step + step / 2 - (1 << 9) : i * step;
    int64_t lower = std::max<int64_t>(at / (1 << 10), 0);
    b.lower.push_back(std::min(lower, from - 1));
    b.upper.push_back(std::max<int64_t>(std::min((at + (1 << 10) - 1) / (1 << 10), from - 1), 0));
    b.share.push_back(at - (1 << 10) * lower);
  }
  return b;
}

/// Returns x at the lower and at the upper indices along an axis.
template <typename T>
std::pair<Value*, Value*> ends(Node& node, Value* x, const Between<T>& b, int64_t axis) {
  return {take(node, x, b.lower, axis), take(node, x, b.upper, axis)};
}

Value* between_floats(Node& node, Value* x, const Between<float>& rows, const Between<float>& columns) {
  auto shares = [&](const Between<float>& b, bool of_rows) {
    auto count = static_cast<int64_t>(b.share.size());
    return node.reals(b.share, of_rows ? Ints{1, count, 1, 1} : Ints{1, 1, count, 1});
  };
  Value *down = shares(rows, true), *right = shares(columns, false);
  Value *up = node.subtract(node.like(down, 1), down), *left = node.subtract(node.like(right, 1), right);
  auto [top, bottom] = ends(node, x, rows, 1);
  auto [top_left, top_right] = ends(node, top, columns, 2);
  auto [bottom_left, bottom_right] = ends(node, bottom, columns, 2);
  auto part = [&](Value* v, Value* a, Value* b) { return node.multiply(node.multiply(v, a), b); };
  Value* sum = node.add(part(top_left, up, left), part(bottom_left, down, left));
  sum = node.add(sum, part(top_right, up, right));
  return node.add(sum, part(bottom_right, down, right));
}

/// Sums four products with 20 fractional bits, rounded to nearest with ties away from zero.
Value* between_stored(Node& node, Value* x, const Between<int64_t>& rows, const Between<int64_t>& columns) {
  DType wide = DType::i(node.type() == TensorType::INT16 ? 64 : 32), stored = x->dtype();
  auto shares = [&](const Between<int64_t>& b, bool of_rows) {
    auto count = static_cast<int64_t>(b.share.size());
    return node.list(wide, b.share, of_rows ? Ints{1, count, 1, 1} : Ints{1, 1, count, 1});
  };
  Value *down = shares(rows, true), *right = shares(columns, false);
  Value *up = node.subtract(node.like(down, 1 << 10), down), *left = node.subtract(node.like(right, 1 << 10), right);
  auto [top, bottom] = ends(node, x, rows, 1);
  auto [top_left, top_right] = ends(node, top, columns, 2);
  auto [bottom_left, bottom_right] = ends(node, bottom, columns, 2);
  auto part = [&](Value* v, Value* a, Value* b) { return node.multiply(node.multiply(node.as(v, wide), a), b); };
  // Operands are made one by one, since C++ leaves open which argument of a call is evaluated first.
  auto column = [&](Value* upper, Value* lower, Value* share) {
    Value* second = part(lower, down, share);
    return node.add(part(upper, up, share), second);
  };
  Value* right_half = column(top_right, bottom_right, right);
  Value* sum = node.add(column(top_left, bottom_left, left), right_half);
  Value *below = node.like(sum, -(1 << 19)), *above = node.like(sum, 1 << 19);
  Value* half = node.where(node.call("greater", {sum, node.like(sum, 0)}), above, below);
  Value* unit = node.like(sum, 1 << 20);
  return node.as(node.divide(node.add(sum, half), unit), stored);
}

Status bilinear(Node& node) {
  const auto& o = node.options<tflite_schema::ResizeBilinearOptions>();
  Sampling sampling{o.align_corners(), o.half_pixel_centers()};
  Value* x = node.input(0);
  std::optional<Ints> sizes = read_sizes(node, x);
  if (!sizes) return node.status();
  Ints dims = node.dims(x);
  if (node.type() == TensorType::FLOAT32)
    return node.set(between_floats(node, x, float_places(dims[1], (*sizes)[0], sampling),
                                   float_places(dims[2], (*sizes)[1], sampling)));
  if (node.type() == TensorType::UINT8) {
    Value* y = between_floats(node, node.f32(x), float_places(dims[1], (*sizes)[0], sampling),
                              float_places(dims[2], (*sizes)[1], sampling));
    return node.set(node.as(node.add(y, 0.5), DType::u(8)));
  }
  if (dims[1] > INT32_MAX / 1024 || dims[2] > INT32_MAX / 1024)
    return node.error(Kind::unsupported, "an image of {} by {}", dims[1], dims[2]);
  return node.set(between_stored(node, x, fixed_places(dims[1], (*sizes)[0], sampling),
                                 fixed_places(dims[2], (*sizes)[1], sampling)));
}

constexpr Row kRows[] = {
    {.code = BuiltinOperator::RESIZE_BILINEAR,
     .convert = bilinear,
     .min_inputs = 2,
     .max_inputs = 2,
     .types = kF32 | kQuantized,
     .rounding = "once, weights of 10 bits, ties away from zero; uint8: float32",
     .note = "the size must be constant"},
    {.code = BuiltinOperator::RESIZE_NEAREST_NEIGHBOR,
     .convert = nearest,
     .min_inputs = 2,
     .max_inputs = 2,
     .note = "the size must be constant"},
};

}  // namespace
}  // namespace relaxc::tflite::resize_family

RELAXC_TFLITE_OPERATORS(resize, kRows)
