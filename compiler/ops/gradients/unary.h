// unary.h: the derivatives of element-wise operators of one operand.
//
// Each is g times the derivative of the formula in unary.cpp at x. Where that has a corner, the derivative is the one
// that PyTorch documents: 0 for abs at 0; the left one for activations with one corner (relu, elu, leaky_relu); that
// outside of the bounds for those with two (relu6, hard_sigmoid, hard_swish). A formula in the result y is preferred to
// one in x, since y is there.
#pragma once

#include <cmath>

#include "compiler/ops/common/gradient_builder.h"

namespace relaxc::ops::derivatives {

inline Term x_of(GradientSite& s) {
  return s.in(0);
}
inline Term zero(GradientSite& s) {
  return s.g.number(0);
}
inline double alpha(const GradientSite& s) {
  return s.op.attrs.number("alpha");
}

inline Term identity(GradientSite& s) {
  return s.g;
}
inline Term exp(GradientSite& s) {
  return s.g * s.y;
}
inline Term exp2(GradientSite& s) {
  return s.g * s.y * M_LN2;
}
inline Term expm1(GradientSite& s) {
  return s.g * (s.y + 1);
}
inline Term log(GradientSite& s) {
  return s.g / x_of(s);
}
inline Term log2(GradientSite& s) {
  return s.g / (x_of(s) * M_LN2);
}
inline Term log10(GradientSite& s) {
  return s.g / (x_of(s) * M_LN10);
}
inline Term log1p(GradientSite& s) {
  return s.g / (x_of(s) + 1);
}
inline Term sqrt(GradientSite& s) {
  return s.g * 0.5 / s.y;
}
inline Term rsqrt(GradientSite& s) {
  return s.g * -0.5 * s.y / x_of(s);
}
inline Term sin(GradientSite& s) {
  return s.g * x_of(s).call("cos");
}
inline Term cos(GradientSite& s) {
  return -(s.g * x_of(s).call("sin"));
}
inline Term tan(GradientSite& s) {
  return s.g * (s.y * s.y + 1);
}
inline Term asin(GradientSite& s) {
  return s.g * (1 - x_of(s) * x_of(s)).call("rsqrt");
}
inline Term acos(GradientSite& s) {
  return -asin(s);
}
inline Term atan(GradientSite& s) {
  return s.g / (x_of(s) * x_of(s) + 1);
}
inline Term sinh(GradientSite& s) {
  return s.g * x_of(s).call("cosh");
}
inline Term cosh(GradientSite& s) {
  return s.g * x_of(s).call("sinh");
}
inline Term tanh(GradientSite& s) {
  return s.g * (1 - s.y * s.y);
}
inline Term asinh(GradientSite& s) {
  return s.g * (x_of(s) * x_of(s) + 1).call("rsqrt");
}
inline Term acosh(GradientSite& s) {
  return s.g * (x_of(s) * x_of(s) - 1).call("rsqrt");
}
inline Term atanh(GradientSite& s) {
  return s.g / (1 - x_of(s) * x_of(s));
}
inline Term erf(GradientSite& s) {
  return s.g * (-(x_of(s) * x_of(s))).call("exp") * M_2_SQRTPI;
}
inline Term sigmoid(GradientSite& s) {
  return s.g * s.y * (1 - s.y);
}
inline Term negative(GradientSite& s) {
  return -s.g;
}
inline Term abs(GradientSite& s) {
  return s.g * x_of(s).call("sign");
}
inline Term square(GradientSite& s) {
  return s.g * x_of(s) * 2;
}
inline Term reciprocal(GradientSite& s) {
  return -(s.g * s.y * s.y);
}
inline Term relu(GradientSite& s) {
  return s.g.where(0 < x_of(s), zero(s));
}
inline Term relu6(GradientSite& s) {
  return relu(s).where(x_of(s) < 6, zero(s));
}
inline Term silu(GradientSite& s) {
  Term sigmoid = x_of(s).call("sigmoid");
  return s.g * sigmoid * (x_of(s) * (1 - sigmoid) + 1);
}
/// The distribution function of the normal distribution plus x times its density.
inline Term gelu_erf(GradientSite& s) {
  Term x = x_of(s), density = (x * x * -0.5).call("exp") * (0.5 * M_2_SQRTPI * M_SQRT1_2);
  return s.g * ((x * M_SQRT1_2).call("erf") * 0.5 + 0.5 + x * density);
}
inline Term gelu_tanh(GradientSite& s) {
  const double scale = std::sqrt(2 / M_PI), cubic = 0.044715;
  Term x = x_of(s), square = x * x, inner = x * (square * cubic + 1) * scale, tanh = inner.call("tanh");
  Term slope = (square * (3 * cubic) + 1) * scale;
  return s.g * ((tanh + 1) * 0.5 + x * 0.5 * (1 - tanh * tanh) * slope);
}
inline Term gelu(GradientSite& s) {
  return s.op.attrs.string("approximate") == "tanh" ? gelu_tanh(s) : gelu_erf(s);
}
inline Term elu(GradientSite& s) {
  return s.g.where(0 < x_of(s), s.g * (s.y + alpha(s)));
}
inline Term celu(GradientSite& s) {
  return s.g.where(0 < x_of(s), s.g * (x_of(s) * (1 / alpha(s))).call("exp"));
}
inline Term selu(GradientSite& s) {
  const double gamma = s.op.attrs.number("gamma");
  return (s.g * gamma).where(0 < x_of(s), s.g * (s.y + gamma * alpha(s)));
}
inline Term leaky_relu(GradientSite& s) {
  return s.g.where(0 < x_of(s), s.g * alpha(s));
}
inline Term thresholded_relu(GradientSite& s) {
  return s.g.where(alpha(s) < x_of(s), zero(s));
}
inline Term softplus(GradientSite& s) {
  return s.g * x_of(s).call("sigmoid");
}
inline Term softsign(GradientSite& s) {
  Term scale = x_of(s).call("abs") + 1;
  return s.g / (scale * scale);
}
inline Term mish(GradientSite& s) {
  Term x = x_of(s), tanh = x.call("nn.softplus").call("tanh");
  return s.g * (tanh + x * x.call("sigmoid") * (1 - tanh * tanh));
}
inline Term hard_sigmoid(GradientSite& s) {
  const double slope = alpha(s);
  Term line = x_of(s) * slope + s.op.attrs.number("beta");
  return (s.g * slope).where(0 < line, zero(s)).where(line < 1, zero(s));
}
inline Term hard_swish(GradientSite& s) {
  Term x = x_of(s);
  return (s.g * (x * (1.0 / 3) + 0.5)).where(-3 < x, zero(s)).where(x < 3, s.g);
}
/// Between floats only: what becomes an integer has no derivative.
inline Term astype(GradientSite& s) {
  if (!s.op.operand(0)->dtype().is_float()) return {};
  return {s.build.as(s.g.value, s.op.operand(0)->dtype()), &s.build};
}

}  // namespace relaxc::ops::derivatives
