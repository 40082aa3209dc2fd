// unary.h: the derivatives of element-wise operators of one operand.
//
// Where two arguments of a call make terms, one of them is made before the call: C++ leaves open which argument is
// evaluated first, and what relaxc emits must not depend on the compiler that built it.
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
  Term rest = 1 - s.y;
  return s.g * s.y * rest;
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
  Term none = zero(s);
  return s.g.where(0 < x_of(s), none);
}
inline Term relu6(GradientSite& s) {
  Term above_zero = relu(s), none = zero(s);
  return above_zero.where(x_of(s) < 6, none);
}
inline Term silu(GradientSite& s) {
  Term sigmoid = x_of(s).call("sigmoid");
  Term factor = x_of(s) * (1 - sigmoid) + 1;
  return s.g * sigmoid * factor;
}
/// The distribution function of the normal distribution plus x times its density.
inline Term gelu_erf(GradientSite& s) {
  Term x = x_of(s), density = (x * x * -0.5).call("exp") * (0.5 * M_2_SQRTPI * M_SQRT1_2);
  Term tail = x * density;
  return s.g * ((x * M_SQRT1_2).call("erf") * 0.5 + 0.5 + tail);
}
inline Term gelu_tanh(GradientSite& s) {
  const double scale = std::sqrt(2 / M_PI), cubic = 0.044715;
  Term x = x_of(s), square = x * x, inner = x * (square * cubic + 1) * scale, tanh = inner.call("tanh");
  Term slope = (square * (3 * cubic) + 1) * scale;
  Term rest = 1 - tanh * tanh;
  Term tail = x * 0.5 * rest * slope;
  return s.g * ((tanh + 1) * 0.5 + tail);
}
inline Term gelu(GradientSite& s) {
  return s.op.attrs.string("approximate") == "tanh" ? gelu_tanh(s) : gelu_erf(s);
}
inline Term elu(GradientSite& s) {
  Term below = s.g * (s.y + alpha(s));
  return s.g.where(0 < x_of(s), below);
}
inline Term celu(GradientSite& s) {
  Term below = s.g * (x_of(s) * (1 / alpha(s))).call("exp");
  return s.g.where(0 < x_of(s), below);
}
inline Term selu(GradientSite& s) {
  const double gamma = s.op.attrs.number("gamma");
  Term above = s.g * gamma, below = s.g * (s.y + gamma * alpha(s));
  return above.where(0 < x_of(s), below);
}
inline Term leaky_relu(GradientSite& s) {
  Term below = s.g * alpha(s);
  return s.g.where(0 < x_of(s), below);
}
inline Term thresholded_relu(GradientSite& s) {
  Term none = zero(s);
  return s.g.where(alpha(s) < x_of(s), none);
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
  Term rest = 1 - tanh * tanh;
  Term tail = x * x.call("sigmoid") * rest;
  return s.g * (tanh + tail);
}
inline Term hard_sigmoid(GradientSite& s) {
  const double slope = alpha(s);
  Term line = x_of(s) * slope + s.op.attrs.number("beta");
  Term scaled = s.g * slope, none = zero(s);
  Term from_zero = scaled.where(0 < line, none);
  none = zero(s);
  return from_zero.where(line < 1, none);
}
inline Term hard_swish(GradientSite& s) {
  Term x = x_of(s);
  Term inside = s.g * (x * (1.0 / 3) + 0.5), none = zero(s);
  return inside.where(-3 < x, none).where(x < 3, s.g);
}
/// Between floats only: what becomes an integer has no derivative.
inline Term astype(GradientSite& s) {
  if (!s.op.operand(0)->dtype().is_float()) return {};
  return {s.build.as(s.g.value, s.op.operand(0)->dtype()), &s.build};
}

}  // namespace relaxc::ops::derivatives
