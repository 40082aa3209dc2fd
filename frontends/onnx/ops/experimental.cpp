// experimental.cpp: experimental operators of ONNX before opset 10. No standard has them any more; old converters wrote
// them, and ONNX Runtime still runs them. Also Erfc, which no standard has had: TensorFlow's converter leaves it in
// exact GELUs of Keras.
#include <array>

#include "frontends/onnx/conversion_builder.h"
#include "frontends/onnx/converter.h"

namespace relaxc::frontend::experimental_family {
namespace {

Status affine(Node& node) {
  ConversionBuilder c(node);
  return c.set(0, c.add(c.multiply(c.input(0), node.float_attr("alpha", 1)), node.float_attr("beta", 0)));
}

Status scale(Node& node) {
  ConversionBuilder c(node);
  return c.set(0, c.multiply(c.input(0), node.float_attr("scale", 1)));
}

Status scaled_tanh(Node& node) {
  ConversionBuilder c(node);
  Value* y = c.call("tanh", {c.multiply(c.input(0), node.float_attr("beta", 1))});
  return c.set(0, c.multiply(y, node.float_attr("alpha", 1)));
}

Status parametric_softplus(Node& node) {
  ConversionBuilder c(node);
  Value* y = c.call("nn.softplus", {c.multiply(c.input(0), node.float_attr("beta", 1))});
  return c.set(0, c.multiply(y, node.float_attr("alpha", 1)));
}

/// Computes x * scale + bias, with one bias per channel.
Status image_scaler(Node& node) {
  ConversionBuilder c(node);
  Value* x = c.input(0);
  if (!c.ok()) return c.failed();
  RELAXC_DO(expect_rank(node, x, 4, "the input"));
  std::vector<double> bias = node.floats_attr("bias");
  std::vector<Value*> parts;
  for (double value : bias) parts.push_back(c.reshape(c.like(x, value), {node.index(1)}));
  Value* y = c.multiply(x, node.float_attr("scale", 1));
  if (parts.empty()) return c.set(0, y);
  Value* list = c.reshape(c.concat(std::move(parts), 0),
                          {node.index(static_cast<int64_t>(bias.size())), node.index(1), node.index(1)});
  RELAXC_TRY(x, with_shape(node, x,
                           {x->shape()[0], node.index(static_cast<int64_t>(bias.size())), x->shape()[2], x->shape()[3]},
                           "its bias"));
  return c.set(0, c.add(y, list));
}

/// Crops borders (left, top, right, bottom). With a scale, the new (height, width), the last two are unused.
Status crop(Node& node) {
  ConversionBuilder c(node);
  Value* x = c.input(0);
  if (!c.ok()) return c.failed();
  RELAXC_DO(expect_rank(node, x, 4, "the input"));
  Ints border = node.ints_attr("border"), size = node.ints_attr("scale");
  if (border.size() != 4 || (!size.empty() && size.size() != 2))
    return node.error(Kind::invalid_attribute, "border has {} numbers and scale {}; it takes 4, and 2 or none",
                      border.size(), size.size());
  for (size_t k = 0; k < 2; ++k) {  // k = 0 is the height, k = 1 the width
    Expr begin = node.index(border[1 - k]), extent = x->shape()[k + 2];
    Expr end = size.empty() ? node.simplify(extent - border[3 - k]) : node.simplify(begin + size[k]);
    x = c.slice(x, static_cast<int64_t>(k) + 2, begin, end);
    if (!c.ok()) return c.failed();
  }
  return c.set(0, x);
}

/// Converts DynamicSlice, which had its limits as inputs before Slice did.
Status dynamic_slice(Node& node) {
  return node.convert_as("Slice", 10);
}

/// Coefficients of the Chebyshev series p in `erfc`.
constexpr std::array kErfcSeries = {-1.3026537197817094,
                                    6.4196979235649026e-1,
                                    1.9476473204185836e-2,
                                    -9.561514786808631e-3,
                                    -9.46595344482036e-4,
                                    3.66839497852761e-4,
                                    4.2523324806907e-5,
                                    -2.0278578112534e-5,
                                    -1.624290004647e-6,
                                    1.303655835580e-6,
                                    1.5626441722e-8,
                                    -8.5238095915e-8,
                                    6.529054439e-9,
                                    5.059343495e-9,
                                    -9.91364156e-10,
                                    -2.27365122e-10,
                                    9.6467911e-11,
                                    2.394038e-12,
                                    -6.886027e-12,
                                    8.94487e-13,
                                    3.13092e-13,
                                    -1.12708e-13,
                                    3.81e-16,
                                    7.106e-15,
                                    -1.523e-15,
                                    -9.4e-17,
                                    1.21e-16,
                                    -2.8e-17};

/// Computes 1 - erf(x), accurately even where it is tiny: t * exp(-x^2 + p(t)) with t = 2 / (2 + |x|) and a Chebyshev
/// series p; for negative x, 2 minus the value at -x. Series: Press et al., Numerical Recipes, 3rd edition, section
/// 6.2.2. In float64; narrower dtypes need only 13 terms (relative error 6e-9), float64 takes all (2e-13).
Status erfc(Node& node) {
  ConversionBuilder c(node);
  Value* given = c.input(0);
  if (!c.ok()) return c.failed();
  if (!given->dtype().is_float())
    return node.error(Kind::dtype_mismatch, "the input must be floats, found {}", relax::to_string(given->info));
  Value *x = c.as(given, DType::f(64)), *z = c.call("abs", {x});
  Value* above = c.add(z, 2);
  Value* t = c.divide(c.like(x, 2), above);
  Value* y = c.add(c.multiply(t, 4), -2);
  Value *term = c.like(x, 0), *before = c.like(x, 0);  // Clenshaw's recurrence
  for (size_t k = given->dtype().bits > 32 ? kErfcSeries.size() - 1 : 12; k > 0; --k) {
    Value* next = c.add(c.subtract(c.multiply(y, term), before), kErfcSeries[k]);
    before = term, term = next;
  }
  Value* series = c.subtract(c.multiply(c.add(c.multiply(y, term), kErfcSeries[0]), 0.5), before);
  Value* positive = c.multiply(t, c.call("exp", {c.subtract(series, c.multiply(z, z))}));
  Value* negative = c.subtract(c.like(x, 2), positive);
  Value* made = c.where(c.call("less", {x, c.like(x, 0)}), negative, positive);
  return c.ok() ? c.set(0, c.as(made, given->dtype())) : c.failed();
}

constexpr Converter kRows[] = {
    {.name = "Affine", .convert = affine, .note = "only in opsets below 10"},
    {.name = "Crop", .convert = crop, .note = "only in opsets below 10"},
    {.name = "DynamicSlice", .convert = dynamic_slice, .note = "only in opsets below 10"},
    {.name = "Erfc", .convert = erfc, .note = "written by TensorFlow's converter"},
    {.name = "ImageScaler", .convert = image_scaler, .note = "only in opsets below 10"},
    {.name = "ParametricSoftplus", .convert = parametric_softplus, .note = "only in opsets below 10"},
    {.name = "Scale", .convert = scale, .note = "only in opsets below 10"},
    {.name = "ScaledTanh", .convert = scaled_tanh, .note = "only in opsets below 10"},
};

}  // namespace
}  // namespace relaxc::frontend::experimental_family

RELAXC_CONVERTERS(experimental, kRows)
