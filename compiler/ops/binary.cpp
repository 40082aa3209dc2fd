// binary.cpp: operators that compute each element of the result from one element of each of two or three operands,
// which broadcast.
//
// The two operands of arithmetic have one dtype (frontends insert the casts of their language); `power` and the shifts
// take its dtype from the base. Integer division by zero gives 0 and never traps. `mod` has the sign of the dividend
// (C, ONNX fmod=1), `floor_mod` that of the divisor (Python, ONNX fmod=0).
#include "compiler/ops/gradients/binary.h"
#include "compiler/ops/common/cast_hint.h"
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"

namespace relaxc::ops::binary_family {
namespace {

using F = Expr (*)(Expr a, Expr b);

constexpr OperandDef kAB[] = {{"a"}, {"b"}};
constexpr OperandDef kWhere[] = {{"condition"}, {"x"}, {"y"}};

bool any(DType) {
  return true;
}
bool is_bool(DType d) {
  return d.is_bool();
}
bool is_integer(DType d) {
  return d.is_integer();
}
bool is_float(DType d) {
  return d.is_float();
}
bool is_bits(DType d) {
  return d.is_integer() || d.is_bool();
}

enum class Gives : uint8_t { kSame, kBool };

/// `Fits` accepts the legal dtypes of operands; with `SameDtype` both operands must have the same one.
template <bool (*Fits)(DType), Gives G, bool SameDtype = true>
InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* a, c.tensor(0));
  RELAXC_TRY(const TensorInfo* b, c.tensor(1));
  if (!Fits(*a->dtype) || !Fits(*b->dtype))
    return c.error(Kind::dtype_mismatch, "'{}' is not defined for {} and {}", c.op.def->name, to_string(*a->dtype),
                   to_string(*b->dtype));
  if (SameDtype && a->dtype != b->dtype)
    return c.error(Kind::dtype_mismatch, "the operands of '{}' have dtypes {} and {}; {}", c.op.def->name,
                   to_string(*a->dtype), to_string(*b->dtype), cast_hint(c));
  RELAXC_TRY(Dims shape, broadcast_dims(c, *a->shape, *b->shape));
  return one(tensor_info(c.context, std::move(shape), G == Gives::kBool ? DType::boolean() : *a->dtype));
}

/// Applies the formula to operands that are widened to the dtype of the computation.
template <F Formula>
Stmt define(DefineContext& d) {
  BufferRef y = d.output();
  return d.builder.compute(y, [&](const Indices& i) {
    Expr a = widen(load_broadcast(d, d.input(0), i, y->shape)), b = widen(load_broadcast(d, d.input(1), i, y->shape));
    return cast(y->dtype, Formula(a, b));
  });
}

Expr add(Expr a, Expr b) {
  return a + b;
}
Expr subtract(Expr a, Expr b) {
  return a - b;
}
Expr multiply(Expr a, Expr b) {
  return a * b;
}
Expr maximum(Expr a, Expr b) {
  return a.dtype().is_bool() ? arith::logical_or(a, b) : arith::max(a, b);
}
Expr minimum(Expr a, Expr b) {
  return a.dtype().is_bool() ? arith::logical_and(a, b) : arith::min(a, b);
}
Expr prelu(Expr x, Expr slope) {
  return select(arith::lt(x, like(x, 0)), x * slope, x);
}

Expr atan2(Expr y, Expr x) {
  return call(Intrinsic::k_atan2, y, x);
}

/// Returns bools as 0 and 1, so that they can be compared.
Expr number_of(Expr e) {
  return e.dtype().is_bool() ? cast(DType::u(8), e) : e;
}
template <F Compare>
Expr compare(Expr a, Expr b) {
  return Compare(number_of(a), number_of(b));
}

Expr logical_xor(Expr a, Expr b) {
  return arith::ne(number_of(a), number_of(b));
}
template <Intrinsic I, F OfBools>
Expr bitwise(Expr a, Expr b) {
  return a.dtype().is_bool() ? OfBools(a, b) : call(I, a, b);
}

/// Shifts by the width or more give 0, or the sign for signed right shifts; machines would take the count modulo it.
template <Intrinsic I>
Expr shift(Expr a, Expr count) {
  int64_t bits = a.dtype().bits;
  Expr amount = cast(DType::i(64), count);
  Expr small = arith::logical_and(arith::le(like(amount, 0), amount), arith::lt(amount, like(amount, double(bits))));
  bool keeps_sign = I == Intrinsic::k_shift_right && a.dtype().is_int();
  Expr last = keeps_sign ? call(I, a, like(a, double(bits - 1))) : like(a, 0);
  return select(small, call(I, a, select(small, cast(a.dtype(), count), like(a, 0))), last);
}

/// Whether operand `index` is a constant whose shift counts are all from 0 to the width minus 1.
bool known_counts(const Op& op, size_t index, int64_t bits) {
  const Value* value = op.operand(index);
  if (value->op == nullptr || value->op->kind != relax::OpKind::kConstant) return false;
  const DType dtype = value->dtype();
  bool fit = true;
  value->op->constant->with_bytes([&](std::span<const std::byte> bytes) {
    for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(dtype.bytes())) {
      const int64_t count = relax::decode_integer(dtype, bytes.data() + at);
      fit = fit && count >= 0 && count < bits;
    }
  });
  return fit;
}

template <Intrinsic I>
Stmt define_shift(DefineContext& d) {
  BufferRef y = d.output();
  const bool fit = known_counts(d.op, 1, y->dtype.bits);
  return d.builder.compute(y, [&](const Indices& i) {
    Expr a = load_broadcast(d, d.input(0), i, y->shape), count = load_broadcast(d, d.input(1), i, y->shape);
    return fit ? call(I, a, cast(y->dtype, count)) : shift<I>(a, count);
  });
}

InferResult infer_power(InferContext& c) {
  return infer<is_number, Gives::kSame, false>(c);
}

/// Raises integers to an integer power by repeated squaring, which wraps. A negative exponent gives 1 / x^n, truncated.
Stmt integer_power(DefineContext& d) {
  tir::Builder& b = d.builder;
  BufferRef y = d.output();
  DType dtype = y->dtype, wide_exponent = DType::i(64);
  BufferRef result = b.buffer("result", dtype, {}, tir::Scope::kLocal);
  BufferRef base = b.buffer("base", dtype, {}, tir::Scope::kLocal);
  BufferRef rest = b.buffer("rest", wide_exponent, {}, tir::Scope::kLocal);
  Expr exponent = b.load(rest, {}), zero = like(exponent, 0), one = d.context().number(dtype, 1);
  Stmt square =
      b.seq({b.branch(arith::eq(call(Intrinsic::k_bitwise_and, exponent, like(exponent, 1)), like(exponent, 1)),
                      b.store(result, {}, b.load(result, {}) * b.load(base, {}))),
             b.store(base, {}, b.load(base, {}) * b.load(base, {})),
             b.store(rest, {}, call(Intrinsic::k_shift_right, exponent, like(exponent, 1)))});
  return b.nest(y->shape, [&](const Indices& i) {
    Expr x = load_broadcast(d, d.input(0), i, y->shape);
    Expr e = cast(wide_exponent, load_broadcast(d, d.input(1), i, y->shape));
    Expr odd = arith::eq(call(Intrinsic::k_bitwise_and, e, like(e, 1)), like(e, 1));
    Expr minus_one = select(odd, d.context().number(dtype, -1), one);
    Expr inverse = select(arith::eq(x, one), one, d.context().zero(dtype));
    if (dtype.is_int()) inverse = select(arith::eq(x, like(x, -1)), minus_one, inverse);
    Stmt body = b.seq({b.store(result, {}, one), b.store(base, {}, x), b.store(rest, {}, e),
                       b.loop_while(arith::lt(zero, exponent), square),
                       b.store(y, i, select(arith::lt(e, zero), inverse, b.load(result, {})))});
    return b.alloc(result, b.alloc(base, b.alloc(rest, body)));
  });
}

Stmt define_power(DefineContext& d) {
  DType base = d.input(0)->dtype, exponent = d.input(1)->dtype;
  if (base.is_integer() && exponent.is_integer()) return integer_power(d);
  bool is_double = base.bits == 64 || exponent.bits == 64 || (base.is_integer() && base.bits == 32);
  DType dtype = DType::f(is_double ? 64 : 32);
  BufferRef y = d.output();
  return d.builder.compute(y, [&](const Indices& i) {
    Expr a = load_broadcast(d, d.input(0), i, y->shape), b = load_broadcast(d, d.input(1), i, y->shape);
    return cast(y->dtype, call(Intrinsic::k_pow, cast(dtype, a), cast(dtype, b)));
  });
}

InferResult infer_where(InferContext& c) {
  RELAXC_TRY(const TensorInfo* condition, c.tensor(0));
  RELAXC_TRY(const TensorInfo* x, c.tensor(1));
  RELAXC_TRY(const TensorInfo* y, c.tensor(2));
  if (!condition->dtype->is_bool())
    return c.error(Kind::dtype_mismatch, "the condition of 'where' must be bool, found {}",
                   to_string(*condition->dtype));
  if (x->dtype != y->dtype)
    return c.error(Kind::dtype_mismatch, "the two values of 'where' have dtypes {} and {}; {}", to_string(*x->dtype),
                   to_string(*y->dtype), cast_hint(c));
  RELAXC_TRY(Dims values, broadcast_dims(c, *x->shape, *y->shape));
  RELAXC_TRY(Dims shape, broadcast_dims(c, *condition->shape, values));
  return one(tensor_info(c.context, std::move(shape), *x->dtype));
}

Stmt define_where(DefineContext& d) {
  BufferRef out = d.output();
  return d.builder.compute(out, [&](const Indices& i) {
    auto load = [&](size_t operand) { return load_broadcast(d, d.input(operand), i, out->shape); };
    return select(load(0), load(1), load(2));
  });
}

template <F Formula, bool (*Fits)(DType) = is_number, bool SameDtype = true>
constexpr OpDef op(OpName name, std::string_view doc, relax::Gradient gradient = nullptr) {
  return {.name = name,
          .operands = kAB,
          .infer = infer<Fits, Gives::kSame, SameDtype>,
          .define = define<Formula>,
          .gradient = gradient,
          .doc = doc};
}
template <Intrinsic I>
constexpr OpDef shift_op(OpName name, std::string_view doc) {
  return {.name = name,
          .operands = kAB,
          .infer = infer<is_integer, Gives::kSame, false>,
          .define = define_shift<I>,
          .doc = doc};
}
template <F Formula>
constexpr OpDef comparison(OpName name, std::string_view doc) {
  return {
      .name = name, .operands = kAB, .infer = infer<any, Gives::kBool>, .define = define<compare<Formula>>, .doc = doc};
}

template <derivatives::PairRule D>
constexpr relax::Gradient kBy = derivatives::pair_gradient<D>;

constexpr F kBitAnd = bitwise<Intrinsic::k_bitwise_and, arith::logical_and>;
constexpr F kBitOr = bitwise<Intrinsic::k_bitwise_or, arith::logical_or>;
constexpr F kBitXor = bitwise<Intrinsic::k_bitwise_xor, logical_xor>;
constexpr F kEq = arith::eq;
constexpr F kNe = arith::ne;

constexpr OpDef kOps[] = {
    op<add>("add", "a + b", kBy<derivatives::add>),
    op<subtract>("subtract", "a - b", kBy<derivatives::subtract>),
    op<multiply>("multiply", "a * b", kBy<derivatives::multiply>),
    op<safe_div>("divide", "a / b; integers truncate, and give 0 where b is 0", kBy<derivatives::divide>),
    op<safe_floor_div>("floor_divide", "a / b rounded down", no_gradient),
    op<safe_mod>("mod", "remainder of truncating division; has the sign of a", kBy<derivatives::mod>),
    op<safe_floor_mod>("floor_mod", "remainder of floor_divide; has the sign of b", kBy<derivatives::floor_mod>),
    {.name = "power",
     .operands = kAB,
     .infer = infer_power,
     .define = define_power,
     .gradient = kBy<derivatives::power>,
     .doc = "a to the power b, in a's dtype"},
    op<atan2, is_float>("atan2", "the angle of the point (b, a), in -pi to pi", kBy<derivatives::atan2>),
    op<maximum, any>("maximum", "the larger, NaN if either is NaN", kBy<derivatives::maximum>),
    op<minimum, any>("minimum", "the smaller, NaN if either is NaN", kBy<derivatives::minimum>),
    op<prelu>("nn.prelu", "a, or a * b where a < 0", kBy<derivatives::prelu>),
    comparison<kEq>("equal", "a == b"),
    comparison<kNe>("not_equal", "a != b"),
    comparison<arith::lt>("less", "a < b"),
    comparison<arith::le>("less_equal", "a <= b"),
    comparison<arith::gt>("greater", "a > b"),
    comparison<arith::ge>("greater_equal", "a >= b"),
    op<arith::logical_and, is_bool>("logical_and", "a and b"),
    op<arith::logical_or, is_bool>("logical_or", "a or b"),
    op<logical_xor, is_bool>("logical_xor", "a != b"),
    op<kBitAnd, is_bits>("bitwise_and", "bits set in both"),
    op<kBitOr, is_bits>("bitwise_or", "bits set in either"),
    op<kBitXor, is_bits>("bitwise_xor", "bits set in exactly one"),
    shift_op<Intrinsic::k_shift_left>("left_shift", "a * 2^b"),
    shift_op<Intrinsic::k_shift_right>("right_shift", "a / 2^b, rounded down"),
    {.name = "where",
     .operands = kWhere,
     .infer = infer_where,
     .define = define_where,
     .gradient = derivatives::where_gradient,
     .doc = "x where condition holds, else y"},
};

}  // namespace
}  // namespace relaxc::ops::binary_family

RELAXC_OPERATORS(binary, kOps)
