// contrib_misc.cpp: operators that com.microsoft had before the standard, and others without a family.
#include <algorithm>
#include <numeric>

#include "frontends/onnx/conversion_builder.h"
#include "frontends/onnx/converter.h"

namespace relaxc::frontend::contrib_misc_family {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

/// Converts a row with the meaning of operator `Op` of ai.onnx at opset `Opset`.
template <const char* Op, int64_t Opset>
Status same_as(Node& node) {
  return node.convert_as(Op, Opset);
}
constexpr char kPad[] = "Pad", kTrilu[] = "Trilu", kGatherNd[] = "GatherND", kGridSample[] = "GridSample";

/// Converts Range, whose limits may be scalars or lists of one element; the step defaults to 1.
Status range(Node& node) {
  bool scalars = node.has(2);
  for (size_t i = 0; i < node.inputs() && scalars; ++i) {
    RELAXC_TRY(const TensorInfo* info, node.info(i));
    scalars = info->shape->empty();
  }
  if (scalars) return node.convert_as("Range", 11);
  ConversionBuilder c(node);
  auto scalar = [&](size_t i) {
    Value* x = c.input(i);
    return c.ok() && rank_of(x) == 1 ? c.reshape(x, {}) : x;
  };
  Value *start = scalar(0), *limit = scalar(1);
  if (!c.ok()) return c.failed();
  Value* step = node.has(2) ? scalar(2) : c.like(start, 1);
  return c.set(0, c.onnx("Range", 11, {start, limit, step}));
}

Status expand_dims(Node& node) {
  ConversionBuilder c(node);
  RELAXC_TRY(Ints axis, node.constant_ints(1, "axis"));
  return c.set(0, c.call("expand_dims", {c.input(0)}, {{"axis", axis}}));
}

Status inverse(Node& node) {
  ConversionBuilder c(node);
  return c.set(0, c.call("inverse", {c.input(0)}));
}

/// Computes the distances of all pairs of rows.
Status pair_distances(Node& node) {
  ConversionBuilder c(node);
  std::string metric = node.string_attr("metric", "sqeuclidean");
  if (metric != "euclidean" && metric != "sqeuclidean")
    return node.error(Kind::unsupported, "metric '{}' is not supported; euclidean and sqeuclidean are", metric);
  Value *a = c.call("expand_dims", {c.input(0)}, {{"axis", Ints{1}}}),
        *b = c.call("expand_dims", {c.input(1)}, {{"axis", Ints{0}}});
  Value* y = c.reduce("sum", c.call("square", {c.subtract(a, b)}), Ints{2}, false);
  return c.set(0, metric == "euclidean" ? c.call("sqrt", {y}) : y);
}

/// Gathers all windows of `size` elements along a dim, `step` apart; a window's elements become the last dim.
Status unfold(Node& node) {
  ConversionBuilder c(node);
  Value* x = c.input(0);
  if (!c.ok()) return c.failed();
  int64_t rank = rank_of(x), size = node.int_attr("size", 0), step = node.int_attr("step", 1);
  RELAXC_TRY(int64_t dim, normal_axis(node, node.int_attr("dim", -1), rank));
  if (size < 1 || step < 1) return node.error(Kind::invalid_attribute, "size and step must be positive");
  Expr extent = x->shape().at(static_cast<size_t>(dim)), one = node.index(1);
  Expr count = node.simplify(arith::floordiv(extent - size, step) + 1);
  Value* begins = c.multiply(c.arange(node.index(0), count), static_cast<double>(step));
  Value* within = c.arange(node.index(0), node.index(size));
  Value* at = c.add(c.reshape(begins, {count, one}), within);
  Value* y = c.call("take", {x, at}, {{"axis", dim}});
  Ints axes(static_cast<size_t>(rank + 1));
  std::iota(axes.begin(), axes.end(), 0);
  std::rotate(axes.begin() + dim + 1, axes.begin() + dim + 2, axes.end());
  return c.set(0, c.permute(y, std::move(axes)));
}

/// Computes whether no element of any input is infinite or NaN.
Status is_all_finite(Node& node) {
  ConversionBuilder c(node);
  bool only_nan = node.int_attr("isnan_only", 0) != 0, only_infinite = node.int_attr("isinf_only", 0) != 0;
  Value* all = nullptr;
  for (size_t i = 0; i < node.inputs(); ++i) {
    Value* x = c.input(i);
    Value* fine = only_nan || only_infinite
                      ? c.call("logical_not", {c.call(only_nan ? OpName("isnan") : OpName("isinf"), {x})})
                      : c.call("isfinite", {x});
    fine = c.reduce("all", fine, Ints{}, false);
    all = all == nullptr ? fine : c.call("logical_and", {all, fine});
  }
  if (all == nullptr) return node.error(Kind::wrong_arity, "it needs at least one input");
  return c.set(0, all);
}

Status embedding(Node& node) {
  ConversionBuilder c(node);
  return c.set(0, c.call("take", {c.input(0), c.input(1)}, {{"axis", int64_t{0}}}));
}

/// Multiplies complex numbers whose parts are the last dim; with `Conjugate`, A by the conjugate of B.
template <bool Conjugate>
Status complex_product(Node& node) {
  ConversionBuilder c(node);
  Value *a = c.input(0), *b = c.input(1);
  if (!c.ok()) return c.failed();
  auto part = [&](Value* x, int64_t k) {
    int64_t last = rank_of(x) - 1;
    return c.slice(x, last, node.index(k), node.index(k + 1));
  };
  Value *ar = part(a, 0), *ai = part(a, 1), *br = part(b, 0), *bi = part(b, 1);
  Value *rr = c.multiply(ar, br), *ii = c.multiply(ai, bi), *ri = c.multiply(ar, bi), *ir = c.multiply(ai, br);
  Value* real = Conjugate ? c.add(rr, ii) : c.subtract(rr, ii);
  Value* imaginary = Conjugate ? c.subtract(ir, ri) : c.add(ir, ri);
  return c.set(0, c.concat({real, imaginary}, -1));
}

/// Computes data + bias + residual; dropout does nothing in inference.
Status bias_dropout(Node& node) {
  ConversionBuilder c(node);
  if (node.has(4) && node.constant_scalar(4).value_or(1) != 0)
    return node.error(Kind::unsupported, "training_mode must be the constant false");
  return c.set(0, c.plus(c.add(c.input(0), c.input(1)), c.optional(2)));
}

/// Computes the distinct elements in order of appearance, the index among them of each element, and their counts.
Status unique(Node& node) {
  RELAXC_TRY(Value * x, node.input(0));
  Attrs attrs{{"sorted", false}, {"return_inverse", true}, {"return_counts", true}};
  RELAXC_TRY(std::vector<Value*> made, node.call_many("unique", {x}, std::move(attrs)));
  for (size_t i = 0; i < made.size(); ++i) RELAXC_DO(node.set(i, made[i]));
  return Done{};
}

/// Returns `count` sample positions from `low` to `high` of each region, relative to the image, [regions, count].
Value* samples(ConversionBuilder& c, Value* low, Value* high, Expr count) {
  Node& node = c.node;
  Value* at = c.as(c.arange(node.index(0), count), DType::f(32));
  Value* steps = c.as(c.call("shape_to_tensor", {node.shape({arith::max(count - 1, node.index(1))})}), DType::f(32));
  Value* one_by_one = c.add(low, c.divide(c.multiply(at, c.subtract(high, low)), steps));
  Value* middle = c.multiply(c.add(low, high), 0.5);
  Value* single = c.call("shape_to_tensor",
                         {node.shape({arith::select(arith::eq(count, node.index(1)), node.index(1), node.index(0))})});
  return c.where(c.call("greater", {single, c.like(single, 0)}), middle, one_by_one);
}

/// Rounds positions relative to an image (0 to 1) to the nearest element; ties go up.
Value* nearest(ConversionBuilder& c, Value* at, Expr extent) {
  Node& node = c.node;
  Value* last = c.as(c.call("shape_to_tensor", {node.shape({arith::max(extent - 1, node.index(1))})}), DType::f(32));
  return c.divide(c.call("floor", {c.add(c.multiply(at, last), 0.5)}), last);
}

/// Samples regions (y1, x1, y2, x2), relative to the image, at one size; points outside become extrapolation_value.
Status crop_and_resize(Node& node) {
  ConversionBuilder c(node);
  Value *x = c.input(0), *rois = c.input(1), *batches = c.input(2);
  if (!c.ok()) return c.failed();
  RELAXC_DO(expect_rank(node, x, 4, "the input"));
  RELAXC_DO(expect_rank(node, rois, 2, "rois"));
  RELAXC_TRY(std::vector<Expr> size, node.ints(3, 2));
  std::string mode = node.string_attr("mode", "bilinear");
  if (size.size() != 2 || (mode != "bilinear" && mode != "nearest"))
    return node.error(Kind::invalid_value,
                      "it takes a height and a width and mode bilinear or nearest, found {} and '{}'", size.size(),
                      mode);
  Expr count = rois->shape().at(0), one = node.index(1);
  auto bound = [&](int64_t k) { return c.slice(rois, 1, node.index(k), node.index(k + 1)); };
  std::vector<Value*> axes;  // x before y, as grid_sample expects
  for (int64_t k : {1, 0}) {
    Expr extent = size[static_cast<size_t>(k)];
    Value* list = samples(c, bound(k), bound(k + 2), extent);
    list = c.reshape(list, k == 1 ? std::vector<Expr>{count, one, extent} : std::vector<Expr>{count, extent, one});
    axes.push_back(c.call("broadcast_to", {list, node.shape({count, size[0], size[1]})}));
  }
  Value* points = c.call("stack", axes, {{"axis", int64_t{3}}});
  if (mode == "nearest")
    for (size_t k = 0; k < 2; ++k) axes[k] = nearest(c, axes[k], x->shape().at(3 - k));
  Value* grid = c.add(c.multiply(c.call("stack", axes, {{"axis", int64_t{3}}}), 2), -1);
  Value* images = c.call("take", {x, batches}, {{"axis", int64_t{0}}});
  Value* y = c.call("grid_sample", {images, c.as(grid, DType::f(32))},
                    {{"mode", std::string(mode == "nearest" ? "nearest" : "linear")},
                     {"padding_mode", std::string("border")},
                     {"align_corners", true}});
  Value* inside = c.call("logical_and", {c.call("greater_equal", {points, c.like(points, 0)}),
                                         c.call("less_equal", {points, c.like(points, 1)})});
  inside = c.call("expand_dims", {c.reduce("all", inside, Ints{3}, false)}, {{"axis", Ints{1}}});
  return c.set(0, c.where(inside, y, c.like(y, node.float_attr("extrapolation_value", 0))));
}

constexpr Converter kRows[] = {
    {.name = "Pad", .convert = same_as<kPad, 13>, .domain = kMicrosoft},
    {.name = "Trilu", .convert = same_as<kTrilu, 14>, .domain = kMicrosoft},
    {.name = "GatherND", .convert = same_as<kGatherNd, 11>, .domain = kMicrosoft},
    {.name = "GridSample", .convert = same_as<kGridSample, 16>, .domain = kMicrosoft},
    {.name = "Range", .convert = range, .note = "limits of floats must be constants", .domain = kMicrosoft},
    {.name = "ExpandDims", .convert = expand_dims, .note = "the axis must be constant", .domain = kMicrosoft},
    {.name = "Inverse", .convert = inverse, .domain = kMicrosoft},
    {.name = "CDist",
     .convert = pair_distances,
     .note = "only the metrics euclidean and sqeuclidean",
     .domain = kMicrosoft},
    {.name = "UnfoldTensor", .convert = unfold, .domain = kMicrosoft},
    {.name = "IsAllFinite", .convert = is_all_finite, .domain = kMicrosoft},
    {.name = "TorchEmbedding", .convert = embedding, .domain = kMicrosoft},
    {.name = "ComplexMul", .convert = complex_product<false>, .domain = kMicrosoft},
    {.name = "ComplexMulConj", .convert = complex_product<true>, .domain = kMicrosoft},
    {.name = "BiasDropout", .convert = bias_dropout, .note = "inference only", .domain = kMicrosoft},
    {.name = "Unique", .convert = unique, .domain = kMicrosoft},
    {.name = "CropAndResize", .convert = crop_and_resize, .domain = kMicrosoft},
};

}  // namespace
}  // namespace relaxc::frontend::contrib_misc_family

RELAXC_CONVERTERS(contrib_misc, kRows)
