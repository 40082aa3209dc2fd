// experimental.cpp: operators that ONNX had on trial before opset 10. No standard has them any more; old converters
// wrote them, ONNX Runtime still runs them, and so do we.
#include "frontends/onnx/chain.h"
#include "frontends/onnx/converter.h"

namespace relaxc::frontend {
namespace {

Status affine(Node& node) {
  Chain c(node);
  return c.set(0, c.add(c.multiply(c.input(0), node.float_attr("alpha", 1)), node.float_attr("beta", 0)));
}

Status scale(Node& node) {
  Chain c(node);
  return c.set(0, c.multiply(c.input(0), node.float_attr("scale", 1)));
}

Status scaled_tanh(Node& node) {
  Chain c(node);
  Value* y = c.call("tanh", {c.multiply(c.input(0), node.float_attr("beta", 1))});
  return c.set(0, c.multiply(y, node.float_attr("alpha", 1)));
}

Status parametric_softplus(Node& node) {
  Chain c(node);
  Value* y = c.call("nn.softplus", {c.multiply(c.input(0), node.float_attr("beta", 1))});
  return c.set(0, c.multiply(y, node.float_attr("alpha", 1)));
}

/// x * scale + bias, a bias for each channel.
Status image_scaler(Node& node) {
  Diagnostics& diag = node.diag;
  Chain c(node);
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

/// Borders (left, top, right, bottom) are cut off; with a scale (height, width) only the first two count.
Status crop(Node& node) {
  Diagnostics& diag = node.diag;
  Chain c(node);
  Value* x = c.input(0);
  if (!c.ok()) return c.failed();
  RELAXC_DO(expect_rank(node, x, 4, "the input"));
  Ints border = node.ints_attr("border"), size = node.ints_attr("scale");
  if (border.size() != 4 || (!size.empty() && size.size() != 2))
    return node.error(Kind::invalid_attribute, "border has {} numbers and scale {}; it takes 4, and 2 or none",
                      border.size(), size.size());
  for (size_t k = 0; k < 2; ++k) {  // height before width
    Expr begin = node.index(border[1 - k]), extent = x->shape()[k + 2];
    Expr end = size.empty() ? node.simplify(extent - border[3 - k]) : node.simplify(begin + size[k]);
    x = c.slice(x, static_cast<int64_t>(k) + 2, begin, end);
    if (!c.ok()) return c.failed();
  }
  return c.set(0, x);
}

/// Slice with its limits as inputs, before Slice itself had them.
Status dynamic_slice(Node& node) {
  return node.convert_as("Slice", 10);
}

constexpr Converter kRows[] = {
    {.name = "Affine", .convert = affine, .note = "before opset 10"},
    {.name = "Crop", .convert = crop, .note = "before opset 10"},
    {.name = "DynamicSlice", .convert = dynamic_slice, .note = "before opset 10"},
    {.name = "ImageScaler", .convert = image_scaler, .note = "before opset 10"},
    {.name = "ParametricSoftplus", .convert = parametric_softplus, .note = "before opset 10"},
    {.name = "Scale", .convert = scale, .note = "before opset 10"},
    {.name = "ScaledTanh", .convert = scaled_tanh, .note = "before opset 10"},
};

}  // namespace
}  // namespace relaxc::frontend

RELAXC_CONVERTERS(experimental, kRows)
