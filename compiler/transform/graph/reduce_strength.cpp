// reduce_strength.cpp: replaces arithmetic with known numbers by cheaper operators.
//
// A power is two polynomials and a table; exporters write squares and cubes with it (norms, the tanh form of GELU). A
// product is at least as exact: a square has one rounding. Dividing by a power of two is multiplying by its inverse, to
// the bit. Other divisions stay: 1 / c is rounded, and a product is not faster by as much as it is less exact.
#include <cmath>

#include "compiler/transform/graph/products/one_hot_product.h"
#include "compiler/transform/graph/products/subpixel_transposed_conv.h"
#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/passes.h"

namespace relaxc {
namespace {

using namespace relax;

/// Replaces x^1, x^2 and x^3 for floats of at least 32 bits (narrower ones round once, after the power).
Value* power_by_known(const Site& s) {
  if (!s.op.is("power") || !s.out()->dtype().is_float() || s.out()->dtype().bits < 32) return nullptr;
  std::optional<double> exponent = uniform_value(s.in(1));
  if (!exponent || !s.like_result(*s.in())) return nullptr;
  if (*exponent == 1) return s.in();
  if (*exponent != 2 && *exponent != 3) return nullptr;
  mark_rounding(s.builder.function());
  Value* square = s.make("multiply", {s.in(), s.in()});
  return *exponent == 2 ? square : s.make("multiply", {square, s.in()});
}

/// Replaces x / 2^k by x * 2^-k for float32 and float64, as long as 2^-k is a normal number.
Value* divide_by_power_of_two(const Site& s) {
  bool fits = s.op.is("divide") && (s.out()->dtype() == DType::f(32) || s.out()->dtype() == DType::f(64));
  std::optional<double> by = fits ? uniform_value(s.in(1)) : std::nullopt;
  if (!by || *by == 0 || !std::isfinite(*by)) return nullptr;
  int exponent = 0;
  if (std::abs(std::frexp(*by, &exponent)) != 0.5 || std::abs(exponent) > 100) return nullptr;
  const ConstantData& data = *constant_of(s.in(1));
  std::vector<std::byte> element = encode_scalar(data.dtype(), 1 / *by), bytes;
  for (int64_t i = 0; i < data.elements(); ++i) bytes.insert(bytes.end(), element.begin(), element.end());
  return s.make("multiply",
                {s.in(), s.builder.constant(ConstantData::inline_bytes(data.dtype(), data.shape(), std::move(bytes)))});
}

constexpr Rule kStrengthRules[] = {power_by_known, divide_by_power_of_two, product_of_one_hot,
                                   subpixel_transposed_conv};

}  // namespace

Result<Changed> reduce_strength(relax::Module& module, PassContext& context) {
  Changed changed = Changed::kNo;
  for (Function* function : module.functions()) changed |= rewrite_ops(module, *function, context, kStrengthRules);
  return changed;
}

}  // namespace relaxc
