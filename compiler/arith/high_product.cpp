// high_product.cpp: see high_product.h.
#include "compiler/arith/high_product.h"

namespace relaxc::arith {
namespace {

/// The int32 that `e` widens to 64 bits; null if `e` is no such cast.
Expr narrow(Expr e) {
  const auto* cast = e.as<Cast>();
  return cast != nullptr && cast->dtype == DType::i(64) && cast->value.dtype() == DType::i(32) ? cast->value : Expr();
}

}  // namespace

std::optional<HighProduct> as_high_product(Expr e) {
  const auto* half = e.as<Cast>();
  const auto* shift = half != nullptr && half->dtype == DType::i(32) ? half->value.as<Call>() : nullptr;
  if (shift == nullptr || shift->intrinsic != Intrinsic::k_shift_right || shift->dtype != DType::i(64)) return {};
  if (!shift->args[1].is_constant(32)) return {};
  HighProduct out;
  Expr product = shift->args[0];
  if (const auto* sum = product.as<Add>()) {
    if (!sum->b.is_constant(int64_t{1} << 31)) return {};
    product = sum->a, out.rounded = true;
  }
  const auto* factors = product.as<Mul>();
  if (factors == nullptr) return {};
  out.a = narrow(factors->a), out.b = narrow(factors->b);
  if (!out.a || !out.b) return {};
  return out;
}

}  // namespace relaxc::arith
