// resize.cpp: Resize and its predecessor Upsample.
//
// The result's size is given, or is floor(dim * scale). A constant scale is a float, which is a fraction of a power of
// two, so the size of a symbolic dim is exact index arithmetic; a scale that is known at run time is multiplied in
// float64, which is exact, too.
#include <cmath>

#include "frontends/onnx/fold.h"

namespace relaxc::frontend::resize_family {
namespace {

Result<std::vector<double>> constant_floats(Node& node, size_t input, std::string_view what) {
  relax::ConstantRef data = node.constant(input);
  if (data == nullptr) return node.error(Kind::unsupported, "{} must be a constant", what);
  std::vector<double> list;
  data->with_bytes([&](std::span<const std::byte> bytes) {
    size_t step = static_cast<size_t>(data->dtype().bytes());
    for (size_t at = 0; at < bytes.size(); at += step)
      list.push_back(relax::decode_scalar(data->dtype(), bytes.data() + at));
  });
  return list;
}

bool given(Node& node, size_t input) {
  if (!node.has(input)) return false;
  relax::ConstantRef data = node.constant(input);
  return data == nullptr || data->elements() > 0;  // older opsets pass an empty tensor for an absent input
}

/// Returns floor(dim * scale).
Result<Expr> scaled(Node& node, Expr dim, double scale) {
  if (!(scale > 0) || scale > 1e6) return node.error(Kind::invalid_value, "a scale is {}", scale);
  if (dim.constant() != nullptr)
    return node.index(static_cast<int64_t>(std::floor(static_cast<double>(*dim.constant()) * scale)));
  int64_t denominator = 1;
  while (scale != std::floor(scale)) scale *= 2, denominator *= 2;
  if (denominator > int64_t{1} << 30)
    return node.error(Kind::unsupported, "the scale of a symbolic dim must be a simple fraction; fix the dim");
  return node.simplify(arith::floordiv(dim * static_cast<int64_t>(scale), denominator));
}

/// Returns a list for all axes from one for `axes`; all others get `fallback`.
std::vector<double> spread(const std::vector<double>& list, const std::vector<int64_t>& axes, size_t rank,
                           double fallback) {
  std::vector<double> all(rank, fallback);
  for (size_t i = 0; i < axes.size() && i < list.size(); ++i) all[static_cast<size_t>(axes[i])] = list[i];
  return all;
}

struct Target {
  std::vector<Expr> sizes;
  std::vector<double> scales;
  Value* run_time_scales = nullptr;  ///< scales of all axes, read at run time; then `scales` is empty
};

/// Returns a run-time list for all axes from one for `axes`; the others come from `rest`.
Result<Value*> spread(Node& node, Value* list, const std::vector<int64_t>& axes, Value* rest) {
  RELAXC_TRY(list, astype(node, list, DType::f(64)));
  std::vector<int64_t> in_order(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) in_order[i] = static_cast<int64_t>(i);
  if (axes == in_order && rest->shape()[0].is_constant(static_cast<int64_t>(axes.size()))) return list;
  return node.call("scatter_elements", {rest, node.builder().int64s(axes), list}, {{"axis", int64_t{0}}});
}

Result<Value*> all_of(Node& node, size_t rank, double value) {
  Value* extent = node.shape({node.index(static_cast<int64_t>(rank))});
  return node.call("full", {extent, node.scalar(DType::f(64), value)});
}

Result<Value*> as_floats(Node& node, const std::vector<Expr>& numbers) {
  RELAXC_TRY(Value * list, node.call("shape_to_tensor", {node.shape(numbers)}));
  return astype(node, list, DType::f(64));
}

/// Applies keep_aspect_ratio_policy: all axes get one scale, the smallest or the largest of those asked for. Scales are
/// compared as fractions; sizes are rounded to nearest, ties up.
Status keep_ratio(Node& node, Target& target, const std::vector<Expr>& dims, const std::vector<int64_t>& axes,
                  bool larger) {
  Expr size, dim;
  for (int64_t axis : axes) {
    Expr s = target.sizes[static_cast<size_t>(axis)], d = dims[static_cast<size_t>(axis)];
    if (!size) {
      size = s, dim = d;
      continue;
    }
    Expr better = larger ? arith::lt(size * d, s * dim) : arith::lt(s * dim, size * d);
    Expr best = arith::select(better, s, size);
    dim = node.simplify(arith::select(better, d, dim));
    size = node.simplify(best);
  }
  if (!size) return Done{};
  if (dim.is_constant(0)) return node.error(Kind::invalid_value, "an axis without elements has no ratio to keep");
  if (size.constant() != nullptr && dim.constant() != nullptr) {
    target.scales.assign(dims.size(), 1);
    for (int64_t axis : axes)
      target.scales[static_cast<size_t>(axis)] =
          static_cast<double>(*size.constant()) / static_cast<double>(*dim.constant());
  } else {
    RELAXC_TRY(Value * above, as_floats(node, {size}));
    RELAXC_TRY(Value * below, as_floats(node, {dim}));
    RELAXC_TRY(Value * scale, node.call("divide", {above, below}));
    RELAXC_TRY(scale, node.call("tile", {scale, node.shape({node.index(static_cast<int64_t>(axes.size()))})}));
    RELAXC_TRY(Value * ones, all_of(node, dims.size(), 1));
    RELAXC_TRY(target.run_time_scales, spread(node, scale, axes, ones));
  }
  for (int64_t axis : axes) {
    size_t i = static_cast<size_t>(axis);
    target.sizes[i] = node.simplify(arith::floordiv(size * dims[i] * 2 + dim, dim * 2));
  }
  return Done{};
}

/// Sets sizes to floor(dim * scale) for scales that are read at run time.
Status scale_at_run_time(Node& node, Target& target, const std::vector<Expr>& dims, const std::vector<int64_t>& axes,
                         size_t scales_at) {
  RELAXC_TRY(Value * scales, node.input(scales_at));
  RELAXC_TRY(scales, with_shape(node, scales, {node.index(static_cast<int64_t>(axes.size()))}, "the list of scales"));
  std::vector<Expr> from;
  for (int64_t axis : axes) from.push_back(dims[static_cast<size_t>(axis)]);
  RELAXC_TRY(Value * ones, all_of(node, dims.size(), 1));
  RELAXC_TRY(target.run_time_scales, spread(node, scales, axes, ones));
  RELAXC_TRY(Value * wide, astype(node, scales, DType::f(64)));
  RELAXC_TRY(Value * extents, as_floats(node, from));
  RELAXC_TRY(Value * sizes, node.call("multiply", {extents, wide}));
  RELAXC_TRY(sizes, node.call("floor", {sizes}));
  RELAXC_TRY(std::vector<Expr> found, values_of(node, sizes));
  for (size_t i = 0; i < axes.size(); ++i) target.sizes[static_cast<size_t>(axes[i])] = found[i];
  return Done{};
}

Result<Target> target_of(Node& node, const std::vector<Expr>& dims, const std::vector<int64_t>& axes) {
  Target target;
  target.sizes = dims;
  size_t scales_at = node.opset < 11 ? 1 : 2;
  if (given(node, 3)) {
    RELAXC_TRY(std::vector<Expr> sizes, node.ints(3, static_cast<int64_t>(axes.size())));
    if (sizes.size() != axes.size())
      return node.error(Kind::invalid_value, "there are {} sizes for {} axes", sizes.size(), axes.size());
    for (size_t i = 0; i < axes.size(); ++i) target.sizes[static_cast<size_t>(axes[i])] = sizes[i];
    std::string policy = node.string_attr("keep_aspect_ratio_policy", "stretch");
    if (policy != "stretch") RELAXC_DO(keep_ratio(node, target, dims, axes, policy == "not_smaller"));
    return target;
  }
  std::vector<double> scales;
  if (node.opset < 9 && node.proto.op_type() == "Upsample") {
    scales = node.floats_attr("scales");
    if (scales.empty()) scales = {1, 1, node.float_attr("height_scale", 1), node.float_attr("width_scale", 1)};
  } else {
    if (!given(node, scales_at)) return node.error(Kind::wrong_arity, "it needs scales or sizes");
    if (node.constant(scales_at) == nullptr) {
      RELAXC_DO(scale_at_run_time(node, target, dims, axes, scales_at));
      return target;
    }
    RELAXC_TRY(scales, constant_floats(node, scales_at, "scales"));
  }
  if (scales.size() != axes.size())
    return node.error(Kind::invalid_value, "there are {} scales for {} axes", scales.size(), axes.size());
  target.scales = spread(scales, axes, dims.size(), 1);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (target.scales[i] == 1) continue;
    RELAXC_TRY(target.sizes[i], scaled(node, dims[i], target.scales[i]));
  }
  return target;
}

/// Returns the region to crop, if it is read at run time: starts of all axes, then ends.
Result<Value*> region_of(Node& node, const std::vector<int64_t>& axes, size_t rank) {
  RELAXC_TRY(Value * roi, node.input(1));
  if (roi->shape().size() != 1)
    return node.error(Kind::invalid_value, "the roi of {} axes is {}", axes.size(), relax::to_string(roi->info));
  RELAXC_TRY(roi,
             with_shape(node, roi, {node.index(static_cast<int64_t>(2 * axes.size()))}, "twice the number of axes"));
  RELAXC_TRY(Value * begins, all_of(node, rank, 0));
  RELAXC_TRY(Value * ends, all_of(node, rank, 1));
  RELAXC_TRY(Value * whole, node.call("concat", {begins, ends}, {{"axis", int64_t{0}}}));
  std::vector<int64_t> places = axes;
  for (int64_t axis : axes) places.push_back(axis + static_cast<int64_t>(rank));
  return spread(node, roi, places, whole);
}

Status resize(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  size_t rank = x->shape().size();
  std::vector<int64_t> axes = node.ints_attr("axes");
  RELAXC_TRY(axes, normal_axes(node, axes, static_cast<int64_t>(rank)));
  if (axes.empty())
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  RELAXC_TRY(Target target, target_of(node, x->shape(), axes));
  // Opset 10 and Upsample have only one coordinate rule, and round down.
  bool old = node.opset < 11;
  std::string mode = node.string_attr("mode", "nearest");
  if (mode == "bilinear" || mode == "trilinear") mode = "linear";
  std::string coordinates = node.string_attr("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
  Attrs attrs{{"mode", mode},
              {"coordinate_mode", coordinates},
              {"nearest_mode", node.string_attr("nearest_mode", old ? "floor" : "round_prefer_floor")},
              {"scales", target.scales},
              {"cubic_coeff_a", node.float_attr("cubic_coeff_a", -0.75)},
              {"exclude_outside", node.int_attr("exclude_outside", 0) != 0},
              {"extrapolation_value", node.float_attr("extrapolation_value", 0)},
              {"antialias", node.int_attr("antialias", 0) != 0}};
  Value* region = nullptr;
  if (coordinates == "tf_crop_and_resize" && node.has(1) && node.constant(1) == nullptr) {
    RELAXC_TRY(region, region_of(node, axes, rank));
  } else if (coordinates == "tf_crop_and_resize") {
    RELAXC_TRY(std::vector<double> roi, constant_floats(node, 1, "roi"));
    if (roi.size() != 2 * axes.size())
      return node.error(Kind::invalid_value, "roi has {} numbers for {} axes", roi.size(), axes.size());
    std::vector<double> ends(roi.begin() + static_cast<std::ptrdiff_t>(axes.size()), roi.end());
    std::vector<double> all = spread(roi, axes, rank, 0), last = spread(ends, axes, rank, 1);
    all.insert(all.end(), last.begin(), last.end());
    attrs.set("roi", std::move(all));
  }
  std::vector<Value*> operands{x, node.shape(std::move(target.sizes)), target.run_time_scales, region};
  return node.set(0, node.call("resize", std::move(operands), std::move(attrs)));
}

constexpr Converter kRows[] = {
    {.name = "Resize", .convert = resize},
    {.name = "Upsample", .convert = resize},
};

}  // namespace
}  // namespace relaxc::frontend::resize_family

RELAXC_CONVERTERS(resize, kRows)
