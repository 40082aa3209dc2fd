// unary.cpp: operators that compute each element of the result from the same element of one operand.
//
// Each is a formula over a scalar. Narrow floats are widened to float32 for the whole formula and rounded once at the
// end, so that a GELU of float16 is as accurate as its dtype allows. Formulas are evaluated in the written order;
// nothing changes it later. If ONNX and NumPy differ on special values (sign of -0, round to even), NumPy's result is
// used and named beside the formula.
#include <cmath>

#include "compiler/ops/common/element.h"
#include "compiler/ops/gradients/unary.h"

namespace relaxc::ops::unary_family {
namespace {

using F = Expr (*)(Expr x);
using FAttrs = Expr (*)(Expr x, const relax::Attrs&);

Info like_x(InferContext& c, const TensorInfo& x) {
  return tensor_info(c.context, *x.shape, *x.dtype);
}

template <bool (*Fits)(DType)>
constexpr const char* kExpected = "an element type of another kind";

bool any(DType) {
  return true;
}
bool is_bool(DType d) {
  return d.is_bool();
}
bool is_bits(DType d) {
  return d.is_integer() || d.is_bool();
}
template <>
constexpr const char* kExpected<is_float> = "a float tensor";
template <>
constexpr const char* kExpected<is_number> = "a tensor of floats or integers";
template <>
constexpr const char* kExpected<is_bool> = "a bool tensor";
template <>
constexpr const char* kExpected<is_bits> = "a tensor of integers or bools";

template <bool (*Fits)(DType)>
InferResult infer(InferContext& c) {
  RELAXC_DO(expect_dtype(c, 0, Fits, kExpected<Fits>));
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  return std::vector<Info>{like_x(c, *x)};
}

/// Deduces the result of predicates on numbers: bools of the shape of x.
InferResult infer_bool(InferContext& c) {
  RELAXC_DO(expect_dtype(c, 0, is_number, kExpected<is_number>));
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  return std::vector<Info>{tensor_info(c.context, *x->shape, DType::boolean())};
}

InferResult infer_astype(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  return std::vector<Info>{tensor_info(c.context, *x->shape, c.op.attrs.dtype("dtype"))};
}

template <typename Formula>
Stmt elementwise(DefineContext& d, Formula formula) {
  return d.builder.compute(d.output(), [&](const Indices& i) {
    return cast(d.output()->dtype, formula(widen(d.builder.load(d.input(0), i))));
  });
}

template <F Formula>
Stmt define(DefineContext& d) {
  return elementwise(d, [](Expr x) { return Formula(x); });
}

template <FAttrs Formula>
Stmt define(DefineContext& d) {
  return elementwise(d, [&](Expr x) { return Formula(x, d.attrs()); });
}

template <Intrinsic I>
Stmt define_intrinsic(DefineContext& d) {
  return elementwise(d, [](Expr x) { return call(I, x); });
}

Stmt define_copy(DefineContext& d) {
  return d.builder.compute(d.output(), [&](const Indices& i) { return d.builder.load(d.input(0), i); });
}

/// Casts as ONNX's Cast does, between any dtypes.
Stmt define_astype(DefineContext& d) {
  return d.builder.compute(d.output(),
                           [&](const Indices& i) { return cast(d.output()->dtype, d.builder.load(d.input(0), i)); });
}

/// Returns the bits of an element in memory; a bool takes 8, of which it uses one.
uint32_t width(DType dtype) {
  return dtype.is_bool() ? 8 : dtype.bits;
}

InferResult infer_reinterpret(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  DType from = *x->dtype, to = c.op.attrs.dtype("dtype");
  if (width(from) != width(to))
    return c.error(Kind::dtype_mismatch, "'reinterpret' of {} as {}, which is not of the same width", to_string(from),
                   to_string(to));
  return std::vector<Info>{tensor_info(c.context, *x->shape, to)};
}

Expr reinterpreted(DType to, Expr x) {
  return x.dtype() == to ? x : x.context().call(to, Intrinsic::k_bitcast, {x});
}

Stmt define_reinterpret(DefineContext& d) {
  DType to = d.output()->dtype;
  return d.builder.compute(d.output(), [&](const Indices& i) {
    Expr x = d.builder.load(d.input(0), i);
    if (x.dtype().is_bool() && !to.is_bool()) return reinterpreted(to, cast(DType::u(8), x));
    return to.is_bool() && !x.dtype().is_bool()
               ? arith::ne(reinterpreted(DType::u(8), x), d.context().imm(DType::u(8), 0))
               : reinterpreted(to, x);
  });
}

Expr abs(Expr x) {
  if (x.dtype().is_float()) return call(Intrinsic::k_abs, x);
  return x.dtype().is_uint() ? x : select(arith::lt(x, like(x, 0)), -x, x);
}
/// Returns -1, 0 or 1; 0 for both zeros, and NaN for NaN.
Expr sign(Expr x) {
  Expr zero = like(x, 0);
  Expr rest = x.dtype().is_float() ? select(arith::eq(x, zero), zero, x) : zero;
  Expr negative = x.dtype().is_uint() ? rest : select(arith::lt(x, zero), like(x, -1), rest);
  return select(arith::lt(zero, x), like(x, 1), negative);
}
Expr negative(Expr x) {
  return -x;
}
Expr square(Expr x) {
  return x * x;
}
Expr reciprocal(Expr x) {
  return like(x, 1) / x;
}
Expr relu(Expr x) {
  return arith::max(like(x, 0), x);
}
Expr relu6(Expr x) {
  return arith::min(like(x, 6), relu(x));
}
Expr silu(Expr x) {
  return x * call(Intrinsic::k_sigmoid, x);
}
Expr gelu_erf(Expr x) {
  return like(x, 0.5) * x * (like(x, 1) + call(Intrinsic::k_erf, x * like(x, std::sqrt(0.5))));
}
Expr gelu_tanh(Expr x) {
  Expr inner = like(x, std::sqrt(2 / M_PI)) * (x + like(x, 0.044715) * (x * x * x));
  return like(x, 0.5) * x * (like(x, 1) + call(Intrinsic::k_tanh, inner));
}
Expr gelu(Expr x, const relax::Attrs& attrs) {
  return attrs.string("approximate") == "tanh" ? gelu_tanh(x) : gelu_erf(x);
}
Expr elu(Expr x, const relax::Attrs& attrs) {
  return select(arith::lt(x, like(x, 0)), like(x, attrs.number("alpha")) * call(Intrinsic::k_expm1, x), x);
}
Expr celu(Expr x, const relax::Attrs& attrs) {
  Expr alpha = like(x, attrs.number("alpha")), zero = like(x, 0);
  return arith::max(zero, x) + arith::min(zero, alpha * call(Intrinsic::k_expm1, x / alpha));
}
Expr selu(Expr x, const relax::Attrs& attrs) {
  Expr alpha = like(x, attrs.number("alpha")), gamma = like(x, attrs.number("gamma"));
  return gamma * select(arith::lt(like(x, 0), x), x, alpha * call(Intrinsic::k_expm1, x));
}
Expr leaky_relu(Expr x, const relax::Attrs& attrs) {
  return select(arith::lt(x, like(x, 0)), like(x, attrs.number("alpha")) * x, x);
}
Expr thresholded_relu(Expr x, const relax::Attrs& attrs) {
  return select(arith::lt(like(x, attrs.number("alpha")), x), x, like(x, 0));
}
/// Computes log(1 + exp(x)) without overflow.
Expr softplus(Expr x) {
  return relu(x) + call(Intrinsic::k_log1p, call(Intrinsic::k_exp_nonpositive, -call(Intrinsic::k_abs, x)));
}
Expr softsign(Expr x) {
  return x / (like(x, 1) + call(Intrinsic::k_abs, x));
}
Expr mish(Expr x) {
  return x * call(Intrinsic::k_tanh, softplus(x));
}
Expr hard_sigmoid(Expr x, const relax::Attrs& attrs) {
  Expr line = like(x, attrs.number("alpha")) * x + like(x, attrs.number("beta"));
  return arith::max(like(x, 0), arith::min(like(x, 1), line));
}
Expr hard_swish(Expr x) {
  return x * arith::max(like(x, 0), arith::min(like(x, 1), like(x, 1.0 / 6) * x + like(x, 0.5)));
}
Expr isnan(Expr x) {
  return x.dtype().is_float() ? call(Intrinsic::k_isnan, x) : x.context().boolean(false);
}
Expr isfinite(Expr x) {
  if (!x.dtype().is_float()) return x.context().boolean(true);
  return arith::logical_not(arith::logical_or(call(Intrinsic::k_isnan, x), call(Intrinsic::k_isinf, x)));
}
Expr isinf(Expr x, const relax::Attrs& attrs) {
  if (!x.dtype().is_float()) return x.context().boolean(false);
  Expr zero = like(x, 0), infinite = call(Intrinsic::k_isinf, x);
  if (!attrs.flag("negative")) infinite = arith::logical_and(infinite, arith::lt(zero, x));
  if (!attrs.flag("positive")) infinite = arith::logical_and(infinite, arith::lt(x, zero));
  return infinite;
}
Expr logical_not(Expr x) {
  return arith::logical_not(x);
}
Expr bitwise_not(Expr x) {
  return x.dtype().is_bool() ? arith::logical_not(x) : call(Intrinsic::k_bitwise_not, x);
}

constexpr AttrDef kDType[] = {{"dtype", AttrType::kDType, true}};
constexpr AttrDef kApproximate[] = {{"approximate", AttrType::kString, false, "none"}};
constexpr AttrDef kAlpha1[] = {{"alpha", AttrType::kFloat, false, "1.0"}};
constexpr AttrDef kAlphaLeaky[] = {{"alpha", AttrType::kFloat, false, "0.01"}};
constexpr AttrDef kSelu[] = {{"alpha", AttrType::kFloat, false, "1.6732632423543772"},
                             {"gamma", AttrType::kFloat, false, "1.0507009873554805"}};
constexpr AttrDef kHardSigmoid[] = {{"alpha", AttrType::kFloat, false, "0.2"},
                                    {"beta", AttrType::kFloat, false, "0.5"}};
constexpr AttrDef kIsInf[] = {{"negative", AttrType::kBool, false, "True"},
                              {"positive", AttrType::kBool, false, "True"}};
constexpr AttrDef kRate[] = {{"rate", AttrType::kFloat, false, "0.5"}};

InferResult infer_gelu(InferContext& c) {
  const std::string& form = c.op.attrs.string("approximate");
  if (form != "none" && form != "tanh")
    return c.error(Kind::invalid_attribute, "attribute 'approximate' of '{}' is \"none\" or \"tanh\", found \"{}\"",
                   c.op.def->name, form);
  return infer<is_float>(c);
}

template <Intrinsic I>
constexpr OpDef intrinsic(OpName name, std::string_view doc, relax::Gradient gradient) {
  return {.name = name,
          .operands = kX,
          .infer = infer<is_float>,
          .define = define_intrinsic<I>,
          .gradient = gradient,
          .doc = doc};
}

template <Intrinsic I>
Expr rounded(Expr x) {
  return x.dtype().is_float() ? call(I, x) : x;
}
template <Intrinsic I>
constexpr OpDef rounding(OpName name, std::string_view doc) {
  return {.name = name,
          .operands = kX,
          .infer = infer<is_number>,
          .define = define<rounded<I>>,
          .gradient = no_gradient,
          .doc = doc};
}

template <F Formula>
constexpr OpDef activation(OpName name, std::string_view doc, relax::Gradient gradient) {
  return {.name = name,
          .operands = kX,
          .infer = infer<is_float>,
          .define = define<Formula>,
          .gradient = gradient,
          .doc = doc};
}
template <FAttrs Formula>
constexpr OpDef activation(OpName name, std::span<const AttrDef> attrs, std::string_view doc,
                           relax::Gradient gradient) {
  return {.name = name,
          .operands = kX,
          .attrs = attrs,
          .infer = infer<is_float>,
          .define = define<Formula>,
          .gradient = gradient,
          .doc = doc};
}

template <Derivative D>
constexpr relax::Gradient kBy = gradient<D>;

constexpr OpDef kOps[] = {
    intrinsic<Intrinsic::k_exp>("exp", "e to the power x", kBy<derivatives::exp>),
    intrinsic<Intrinsic::k_exp2>("exp2", "2 to the power x", kBy<derivatives::exp2>),
    intrinsic<Intrinsic::k_expm1>("expm1", "exp(x) - 1, exact near 0", kBy<derivatives::expm1>),
    intrinsic<Intrinsic::k_log>("log", "natural logarithm", kBy<derivatives::log>),
    intrinsic<Intrinsic::k_log2>("log2", "logarithm to base 2", kBy<derivatives::log2>),
    intrinsic<Intrinsic::k_log10>("log10", "logarithm to base 10", kBy<derivatives::log10>),
    intrinsic<Intrinsic::k_log1p>("log1p", "log(1 + x), exact near 0", kBy<derivatives::log1p>),
    intrinsic<Intrinsic::k_sqrt>("sqrt", "square root", kBy<derivatives::sqrt>),
    intrinsic<Intrinsic::k_rsqrt>("rsqrt", "1 / sqrt(x)", kBy<derivatives::rsqrt>),
    intrinsic<Intrinsic::k_sin>("sin", "sine of radians", kBy<derivatives::sin>),
    intrinsic<Intrinsic::k_cos>("cos", "cosine of radians", kBy<derivatives::cos>),
    intrinsic<Intrinsic::k_tan>("tan", "tangent of radians", kBy<derivatives::tan>),
    intrinsic<Intrinsic::k_asin>("asin", "arc sine", kBy<derivatives::asin>),
    intrinsic<Intrinsic::k_acos>("acos", "arc cosine", kBy<derivatives::acos>),
    intrinsic<Intrinsic::k_atan>("atan", "arc tangent", kBy<derivatives::atan>),
    intrinsic<Intrinsic::k_sinh>("sinh", "hyperbolic sine", kBy<derivatives::sinh>),
    intrinsic<Intrinsic::k_cosh>("cosh", "hyperbolic cosine", kBy<derivatives::cosh>),
    intrinsic<Intrinsic::k_tanh>("tanh", "hyperbolic tangent", kBy<derivatives::tanh>),
    intrinsic<Intrinsic::k_asinh>("asinh", "inverse hyperbolic sine", kBy<derivatives::asinh>),
    intrinsic<Intrinsic::k_acosh>("acosh", "inverse hyperbolic cosine", kBy<derivatives::acosh>),
    intrinsic<Intrinsic::k_atanh>("atanh", "inverse hyperbolic tangent", kBy<derivatives::atanh>),
    intrinsic<Intrinsic::k_erf>("erf", "error function", kBy<derivatives::erf>),
    intrinsic<Intrinsic::k_sigmoid>("sigmoid", "1 / (1 + exp(-x))", kBy<derivatives::sigmoid>),
    rounding<Intrinsic::k_floor>("floor", "rounds down; integers stay"),
    rounding<Intrinsic::k_ceil>("ceil", "rounds up; integers stay"),
    rounding<Intrinsic::k_trunc>("trunc", "rounds towards 0; integers stay"),
    rounding<Intrinsic::k_round>("round", "rounds to nearest, ties to even; integers stay"),
    {.name = "negative",
     .operands = kX,
     .infer = infer<is_number>,
     .define = define<negative>,
     .gradient = kBy<derivatives::negative>,
     .doc = "-x"},
    {.name = "abs",
     .operands = kX,
     .infer = infer<is_number>,
     .define = define<abs>,
     .gradient = kBy<derivatives::abs>,
     .doc = "absolute value"},
    {.name = "sign",
     .operands = kX,
     .infer = infer<is_number>,
     .define = define<sign>,
     .gradient = no_gradient,
     .doc = "-1, 0 or 1"},
    {.name = "square",
     .operands = kX,
     .infer = infer<is_number>,
     .define = define<square>,
     .gradient = kBy<derivatives::square>,
     .doc = "x * x"},
    activation<reciprocal>("reciprocal", "1 / x", kBy<derivatives::reciprocal>),
    {.name = "nn.relu",
     .operands = kX,
     .infer = infer<is_number>,
     .define = define<relu>,
     .gradient = kBy<derivatives::relu>,
     .doc = "max(x, 0)"},
    {.name = "nn.relu6",
     .operands = kX,
     .infer = infer<is_number>,
     .define = define<relu6>,
     .gradient = kBy<derivatives::relu6>,
     .doc = "x clamped to 0..6"},
    activation<silu>("nn.silu", "x * sigmoid(x)", kBy<derivatives::silu>),
    {.name = "nn.gelu",
     .operands = kX,
     .attrs = kApproximate,
     .infer = infer_gelu,
     .define = define<gelu>,
     .gradient = kBy<derivatives::gelu>,
     .doc = "x * (normal distribution function of x); approximate is \"none\" (erf) or \"tanh\""},
    activation<gelu_tanh>("nn.gelu_tanh", "GELU by tanh", kBy<derivatives::gelu_tanh>),
    activation<elu>("nn.elu", kAlpha1, "x, or alpha * (exp(x) - 1) where x < 0", kBy<derivatives::elu>),
    activation<celu>("nn.celu", kAlpha1, "max(0, x) + min(0, alpha * (exp(x / alpha) - 1))", kBy<derivatives::celu>),
    activation<selu>("nn.selu", kSelu, "gamma * (x, or alpha * (exp(x) - 1) where x <= 0)", kBy<derivatives::selu>),
    activation<leaky_relu>("nn.leaky_relu", kAlphaLeaky, "x, or alpha * x where x < 0", kBy<derivatives::leaky_relu>),
    activation<thresholded_relu>("nn.thresholded_relu", kAlpha1, "x where x > alpha, else 0",
                                 kBy<derivatives::thresholded_relu>),
    activation<softplus>("nn.softplus", "log(1 + exp(x))", kBy<derivatives::softplus>),
    activation<softsign>("nn.softsign", "x / (1 + |x|)", kBy<derivatives::softsign>),
    activation<mish>("nn.mish", "x * tanh(softplus(x))", kBy<derivatives::mish>),
    activation<hard_sigmoid>("nn.hard_sigmoid", kHardSigmoid, "alpha * x + beta clamped to 0..1",
                             kBy<derivatives::hard_sigmoid>),
    activation<hard_swish>("nn.hard_swish", "x * hard_sigmoid(x) with alpha 1/6, beta 0.5",
                           kBy<derivatives::hard_swish>),
    {.name = "isnan", .operands = kX, .infer = infer_bool, .define = define<isnan>, .doc = "whether x is NaN"},
    {.name = "isinf",
     .operands = kX,
     .attrs = kIsInf,
     .infer = infer_bool,
     .define = define<isinf>,
     .doc = "whether x is infinite, with the signs that the attributes select"},
    {.name = "isfinite",
     .operands = kX,
     .infer = infer_bool,
     .define = define<isfinite>,
     .doc = "whether x is neither NaN nor infinite"},
    {.name = "logical_not", .operands = kX, .infer = infer<is_bool>, .define = define<logical_not>, .doc = "not x"},
    {.name = "bitwise_not",
     .operands = kX,
     .infer = infer<is_bits>,
     .define = define<bitwise_not>,
     .doc = "every bit inverted"},
    {.name = "reinterpret",
     .operands = kX,
     .attrs = kDType,
     .infer = infer_reinterpret,
     .define = define_reinterpret,
     .doc = "the same bits as elements of another dtype of that width"},
    {.name = "identity",
     .operands = kX,
     .infer = infer<any>,
     .define = define_copy,
     .gradient = kBy<derivatives::identity>,
     .role = relax::Role::kView,
     .doc = "x itself"},
    {.name = "nn.dropout",
     .operands = kX,
     .attrs = kRate,
     .infer = infer<any>,
     .define = define_copy,
     .gradient = kBy<derivatives::identity>,
     .role = relax::Role::kView,
     .doc = "x itself: dropout does nothing at inference"},
    {.name = "astype",
     .operands = kX,
     .attrs = kDType,
     .infer = infer_astype,
     .define = define_astype,
     .gradient = kBy<derivatives::astype>,
     .doc = "each element converted to dtype"},
};

}  // namespace
}  // namespace relaxc::ops::unary_family

RELAXC_OPERATORS(unary, kOps)
