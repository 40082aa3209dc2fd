// math.cpp: selects the precision in which each function is computed.
#include "compiler/arith/math.h"

#include "compiler/arith/math_real.h"
#include "compiler/arith/visit.h"

namespace relaxc::arith {
namespace {

using Unary = Expr (*)(const Real&, Expr);
using Binary2 = Expr (*)(const Real&, Expr, Expr);

struct Row {
  Intrinsic intrinsic;
  Unary unary = nullptr;
  Binary2 binary = nullptr;
  bool in_double = false;  ///< float32 goes through float64
};

constexpr Row kRows[] = {
    {Intrinsic::k_exp, math_exp},
    {Intrinsic::k_exp_nonpositive, math_exp_nonpositive},
    {Intrinsic::k_exp2, math_exp2},
    {Intrinsic::k_exp10, math_exp10, nullptr, true},
    {Intrinsic::k_expm1, math_expm1},
    {Intrinsic::k_log, math_log},
    {Intrinsic::k_log2, math_log2},
    {Intrinsic::k_log10, math_log10},
    {Intrinsic::k_log1p, math_log1p},
    {Intrinsic::k_sigmoid, math_sigmoid},
    {Intrinsic::k_tanh, math_tanh},
    {Intrinsic::k_erf, math_erf},
    {Intrinsic::k_sinh, math_sinh, nullptr, true},
    {Intrinsic::k_cosh, math_cosh, nullptr, true},
    {Intrinsic::k_asinh, math_asinh, nullptr, true},
    {Intrinsic::k_acosh, math_acosh, nullptr, true},
    {Intrinsic::k_atanh, math_atanh, nullptr, true},
    {Intrinsic::k_sin, math_sin, nullptr, true},
    {Intrinsic::k_cos, math_cos, nullptr, true},
    {Intrinsic::k_tan, math_tan, nullptr, true},
    {Intrinsic::k_asin, math_asin, nullptr, true},
    {Intrinsic::k_acos, math_acos, nullptr, true},
    {Intrinsic::k_atan, math_atan, nullptr, true},
    {Intrinsic::k_atan2, nullptr, math_atan2, true},
    {Intrinsic::k_pow, nullptr, math_pow, true},
    {Intrinsic::k_hypot, nullptr, math_hypot, true},
    {Intrinsic::k_ldexp, nullptr, math_ldexp, true},
    {Intrinsic::k_nextafter, nullptr, math_nextafter},
};

const Row* find_row(Intrinsic intrinsic) {
  for (const Row& row : kRows)
    if (row.intrinsic == intrinsic) return &row;
  return nullptr;
}

/// x to the power of 1, 2, 3 or -1, by multiplication or division; null if y is none of these constants.
Expr pow_by_products(Expr x, Expr y) {
  const auto* imm = y.as<FloatImm>();
  if (imm == nullptr) return {};
  if (imm->value == 1) return x;
  if (imm->value == 2) return x * x;
  if (imm->value == 3) return x * x * x;
  if (imm->value == -1) return x.context().imm_float(x.dtype(), 1) / x;
  return {};
}

}  // namespace

bool is_expandable(Intrinsic intrinsic) {
  return intrinsic == Intrinsic::k_rsqrt || find_row(intrinsic) != nullptr;
}

bool is_long_chain(Intrinsic intrinsic) {
  const Row* row = find_row(intrinsic);
  return row != nullptr && !row->in_double && row->unary != nullptr;
}

Expr expand_math(Expr e, bool fused) {
  const auto* call = e.as<Call>();
  if (call == nullptr || !is_expandable(call->intrinsic)) return e;
  DType dtype = e.dtype();
  RELAXC_CHECK(dtype.is_float(), std::string(intrinsic_name(call->intrinsic)) + " of " + to_string(dtype));
  Context& context = e.context();
  if (call->intrinsic == Intrinsic::k_pow)
    if (Expr product = pow_by_products(call->args[0], call->args[1])) return product;
  if (call->intrinsic == Intrinsic::k_rsqrt)
    return context.imm_float(dtype, 1) / arith::call(Intrinsic::k_sqrt, {call->args[0]});
  const Row& row = *find_row(call->intrinsic);
  DType work = dtype.bits == 64 || row.in_double ? DType::f(64) : DType::f(32);
  Real real(context, work, fused);
  std::vector<Expr> args;
  for (Expr arg : call->args) args.push_back(cast(work, arg));
  Expr value = row.unary != nullptr ? row.unary(real, args[0]) : row.binary(real, args[0], args[1]);
  return cast(dtype, value);
}

Expr expand_all_math(Expr e, bool fused) {
  return rewrite(e, [fused](Expr node) { return expand_math(node, fused); });
}

}  // namespace relaxc::arith
