// resize.cpp: Resize and its predecessor Upsample.
//
// The result's size is given, or is floor(dim * scale). A scale is a float, which is a fraction of a power of two, so
// the size of a symbolic dim is exact index arithmetic.
#include <cmath>

#include "frontends/onnx/fold.h"

namespace relaxc::frontend {
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
  return data == nullptr || data->elements() > 0;  // an empty tensor is how older opsets say "none"
}

/// floor(dim * scale).
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

/// Lists that are for some axes only, spread over all.
std::vector<double> spread(const std::vector<double>& list, const std::vector<int64_t>& axes, size_t rank,
                           double fallback) {
  std::vector<double> all(rank, fallback);
  for (size_t i = 0; i < axes.size() && i < list.size(); ++i) all[static_cast<size_t>(axes[i])] = list[i];
  return all;
}

struct Target {
  std::vector<Expr> sizes;
  std::vector<double> scales;
};

/// keep_aspect_ratio_policy: one scale for all axes, the smallest or the largest of those asked for.
Status keep_ratio(Node& node, Target& target, const std::vector<Expr>& dims, const std::vector<int64_t>& axes,
                  bool larger) {
  double scale = larger ? 0 : INFINITY;
  for (int64_t axis : axes) {
    const int64_t *size = target.sizes[static_cast<size_t>(axis)].constant(),
                  *dim = dims[static_cast<size_t>(axis)].constant();
    if (size == nullptr || dim == nullptr || *dim == 0)
      return node.error(Kind::unsupported, "keep_aspect_ratio_policy needs constant dims and sizes");
    double wanted = static_cast<double>(*size) / static_cast<double>(*dim);
    scale = larger ? std::max(scale, wanted) : std::min(scale, wanted);
  }
  target.scales.assign(dims.size(), 1);
  for (int64_t axis : axes) {
    size_t i = static_cast<size_t>(axis);
    target.scales[i] = scale;
    target.sizes[i] = node.index(std::llround(scale * static_cast<double>(*dims[i].constant())));
  }
  return Done{};
}

Result<Target> target_of(Node& node, const std::vector<Expr>& dims, const std::vector<int64_t>& axes) {
  Diagnostics& diag = node.diag;
  Target target;
  target.sizes = dims;
  size_t scales_at = node.opset < 11 ? 1 : 2;
  if (given(node, 3)) {
    RELAXC_TRY(std::vector<Expr> sizes, node.ints(3));
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

Status resize(Node& node) {
  Diagnostics& diag = node.diag;
  RELAXC_TRY(Value * x, node.input(0));
  size_t rank = x->shape().size();
  std::vector<int64_t> axes = node.ints_attr("axes");
  RELAXC_TRY(axes, normal_axes(node, axes, static_cast<int64_t>(rank)));
  if (axes.empty())
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  RELAXC_TRY(Target target, target_of(node, x->shape(), axes));
  // Opset 10 and Upsample knew one coordinate rule and rounded down.
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
  if (coordinates == "tf_crop_and_resize") {
    RELAXC_TRY(std::vector<double> roi, constant_floats(node, 1, "roi"));
    if (roi.size() != 2 * axes.size())
      return node.error(Kind::invalid_value, "roi has {} numbers for {} axes", roi.size(), axes.size());
    std::vector<double> ends(roi.begin() + static_cast<std::ptrdiff_t>(axes.size()), roi.end());
    std::vector<double> all = spread(roi, axes, rank, 0), last = spread(ends, axes, rank, 1);
    all.insert(all.end(), last.begin(), last.end());
    attrs.set("roi", std::move(all));
  }
  return node.set(0, node.call("resize", {x, node.shape(std::move(target.sizes))}, std::move(attrs)));
}

constexpr Converter kRows[] = {
    {.name = "Resize", .convert = resize, .note = "constant scales and roi"},
    {.name = "Upsample", .convert = resize, .note = "constant scales"},
};

}  // namespace
}  // namespace relaxc::frontend

RELAXC_CONVERTERS(resize, kRows)
