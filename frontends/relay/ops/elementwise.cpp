// elementwise.cpp: elementwise operators of one tensor, or of two that broadcast.
#include "frontends/relay/operators.h"

namespace relaxc::relay::elementwise_family {
namespace {

/// Returns x itself: for annotations of TVM's passes, and for operators about devices.
Result<Term> same(TvmCall& c) {
  RELAXC_TRY(Value * x, c.value("x"));
  return Term::of(x);
}

/// Rounds to the nearest integer, ties away from zero.
Result<Term> round_away(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(Value * whole, c.op("trunc", {x}));
  RELAXC_TRY(Value * rest, c.op("subtract", {x, whole}));
  RELAXC_TRY(rest, c.op("abs", {rest}));
  RELAXC_TRY(Value * away, c.op("greater_equal", {rest, c.build().scalar(x->dtype(), 0.5)}));
  RELAXC_TRY(Value * sign, c.op("sign", {x}));
  RELAXC_TRY(Value * next, c.op("add", {whole, sign}));
  return c.term(c.op("where", {away, next, whole}));
}

/// cast_like(data, dtype_like)
Result<Term> cast_like(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(Value * like, c.tensor("dtype_like"));
  return c.term(c.cast(x, like->dtype()));
}

/// cast_hint(data, dtype)
Result<Term> cast(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(DType dtype, c.dtype("dtype", x->dtype()));
  return c.term(c.cast(x, dtype));
}

/// clip(a, a_min, a_max)
Result<Term> clip(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  for (bool low : {true, false}) {
    RELAXC_TRY(double bound, c.real(low ? "a_min" : "a_max", 0));
    Value* limit = c.build().scalar(x->dtype(), bound);
    RELAXC_TRY(x, low ? c.op("maximum", {x, limit}) : c.op("minimum", {x, limit}));
  }
  return Term::of(x);
}

/// fixed_point_multiply(data, multiplier, shift): x * multiplier * 2^(shift - 31), rounded to nearest, ties up.
Result<Term> fixed_point_multiply(TvmCall& c) {
  RELAXC_TRY(Value * x, c.tensor("x"));
  RELAXC_TRY(int64_t multiplier, c.integer("multiplier", 0));
  RELAXC_TRY(int64_t shift, c.integer("shift", 0));
  if (shift > 30 || shift < -30)
    return c.error("shift", Kind::invalid_attribute, "a shift of {} is not in -30..30", shift);
  DType wide = DType::i(64), stored = x->dtype();
  relax::GraphBuilder& b = c.build();
  RELAXC_TRY(x, c.cast(x, wide));
  if (shift > 0) {
    RELAXC_TRY(x, c.op("left_shift", {x, b.scalar(wide, static_cast<double>(shift))}));
  }
  int64_t right = 31 - std::min<int64_t>(shift, 0);
  RELAXC_TRY(x, c.op("multiply", {x, b.scalar(wide, static_cast<double>(multiplier))}));
  RELAXC_TRY(x, c.op("add", {x, b.scalar(wide, static_cast<double>(int64_t{1} << (right - 1)))}));
  RELAXC_TRY(x, c.op("right_shift", {x, b.scalar(wide, static_cast<double>(right))}));
  return c.term(c.cast(x, stored));
}

constexpr std::string_view kUnary = "data:x", kBinary = "lhs:a, rhs:b";

constexpr Row kRows[] = {
    {"abs", kUnary, "abs"},
    {"acos", kUnary, "acos"},
    {"acosh", kUnary, "acosh"},
    {"asin", kUnary, "asin"},
    {"asinh", kUnary, "asinh"},
    {"atan", kUnary, "atan"},
    {"atanh", kUnary, "atanh"},
    {"bitwise_not", kUnary, "bitwise_not"},
    {"ceil", kUnary, "ceil"},
    {"cos", kUnary, "cos"},
    {"cosh", kUnary, "cosh"},
    {"erf", kUnary, "erf"},
    {"exp", kUnary, "exp"},
    {"fast_erf", kUnary, "erf"},
    {"fast_exp", kUnary, "exp"},
    {"fast_tanh", kUnary, "tanh"},
    {"floor", kUnary, "floor"},
    {"isfinite", kUnary, "isfinite"},
    {"isinf", kUnary, "isinf"},
    {"isnan", kUnary, "isnan"},
    {"log", kUnary, "log"},
    {"log10", kUnary, "log10"},
    {"log2", kUnary, "log2"},
    {"logical_not", kUnary, "logical_not"},
    {"negative", kUnary, "negative"},
    {"round", kUnary, "round", round_away},
    {"rsqrt", kUnary, "rsqrt"},
    {"sigmoid", kUnary, "sigmoid"},
    {"sign", kUnary, "sign"},
    {"sin", kUnary, "sin"},
    {"sinh", kUnary, "sinh"},
    {"sqrt", kUnary, "sqrt"},
    {"tan", kUnary, "tan"},
    {"tanh", kUnary, "tanh"},
    {"trunc", kUnary, "trunc"},
    {"copy", kUnary, {}, same},
    {"identity", kUnary, {}, same},
    {"add", kBinary, "add"},
    {"subtract", kBinary, "subtract"},
    {"multiply", kBinary, "multiply"},
    {"divide", kBinary, "divide"},
    {"floor_divide", kBinary, "floor_divide"},
    {"trunc_divide", kBinary, "divide"},
    {"mod", kBinary, "mod"},
    {"floor_mod", kBinary, "floor_mod"},
    {"trunc_mod", kBinary, "mod"},
    {"power", kBinary, "power"},
    {"maximum", kBinary, "maximum"},
    {"minimum", kBinary, "minimum"},
    {"left_shift", kBinary, "left_shift"},
    {"right_shift", kBinary, "right_shift"},
    {"logical_and", kBinary, "logical_and"},
    {"logical_or", kBinary, "logical_or"},
    {"logical_xor", kBinary, "logical_xor"},
    {"bitwise_and", kBinary, "bitwise_and"},
    {"bitwise_or", kBinary, "bitwise_or"},
    {"bitwise_xor", kBinary, "bitwise_xor"},
    {"equal", kBinary, "equal"},
    {"not_equal", kBinary, "not_equal"},
    {"less", kBinary, "less"},
    {"less_equal", kBinary, "less_equal"},
    {"greater", kBinary, "greater"},
    {"greater_equal", kBinary, "greater_equal"},
    {"where", "condition, x, y", "where"},
    {"cast", "data:x, dtype", {}, cast},
    {"cast_like", "data:x, dtype_like", {}, cast_like},
    {"reinterpret", "data:x, dtype", "reinterpret"},
    {"clip", "a:x, a_min, a_max", {}, clip},
    {"fixed_point_multiply", "data:x, multiplier, shift", {}, fixed_point_multiply},
    {"annotation.stop_fusion", kUnary, {}, same},
    {"annotation.checkpoint", kUnary, {}, same},
    {"annotation.bitpack_start", kUnary, {}, same},
    {"annotation.bitpack_end", kUnary, {}, same},
    {"annotation.compiler_begin", "data:x, compiler", {}, same},
    {"annotation.compiler_end", "data:x, compiler", {}, same},
    {"annotation.cast_hint", "data:x, dtype", {}, same},
    {"on_device", "data:x, virtual_device, constrain_result, constrain_body, device_type", {}, same},
    {"device_copy", "data:x, src_virtual_device, dst_virtual_device, src_dev_type, dst_dev_type", {}, same},
    {"nn.relu", kUnary, "nn.relu"},
    {"nn.leaky_relu", "data:x, alpha=0.25", "nn.leaky_relu"},
    {"nn.prelu", "data, alpha, axis=1", "nn.prelu"},
    {"nn.softmax", "data:x, axis=-1", "nn.softmax"},
    {"nn.fast_softmax", "data:x, axis=-1", "nn.softmax"},
    {"nn.log_softmax", "data:x, axis=-1", "nn.log_softmax"},
};

}  // namespace
}  // namespace relaxc::relay::elementwise_family

RELAXC_RELAY_OPERATORS(elementwise, kRows)
