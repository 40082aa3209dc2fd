// requantize.cpp: converts sums of products, or other numbers with a scale, to stored integers of another scale.
//
// saturate(round(x * multiplier + addend) + zero_point), ties to even, in float32: the multiplier is the quotient of
// two scales, the addend a bias in units of the result. `quantize` divides by a scale, this multiplies once, which has
// an error of a few float32 ULPs; so close to a tie a result may differ by one from that of exact arithmetic. Passes
// insert it after products, which a scale has rounded anyway. `low` and `high` bound the stored result more tightly
// than its dtype, after a relu or a clip.
//
// Within the bounds, adding 1.5 * 2^23 leaves the rounded number in the low bits of the sum: rounding and conversion in
// one addition. x must not be NaN.
//
// With `right`, multipliers and addends are int32. An even multiplier is a number in fixed point: the result is
// (((x << left) * multiplier >> 32) + addend) >> right. An odd one, shifted right by one, and its addend are the bits
// of float32, for those channels where no line of integers rounds as float32 does. (If the sign were
// the mark, LLVM would know that the other multipliers are not negative, and on Arm make two products of one.)
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"

namespace relaxc::ops::requantize_family {
namespace {

constexpr OperandDef kOperands[] = {{"x"}, {"multiplier"}, {"addend"}};
constexpr AttrDef kAttrs[] = {{"zero_point", AttrType::kInt, true}, {"low", AttrType::kInt, true},
                              {"high", AttrType::kInt, true},       {"out_dtype", AttrType::kDType, false, "uint8"},
                              {"left", AttrType::kInt, false, "0"}, {"right", AttrType::kInt, false, "0"}};

constexpr int64_t kRoundingBits = 0x4B400000;  // the bits of 1.5 * 2^23 as float32

InferResult infer(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  DType stored = c.op.attrs.dtype("out_dtype");
  if (*x->dtype != DType::i(32) && *x->dtype != DType::f(32))
    return c.error(Kind::dtype_mismatch, "'{}' of {}; it takes int32 or float32", c.op.def->name, to_string(*x->dtype));
  if (!stored.is_integer() || stored.bits > 16)
    return c.error(Kind::dtype_mismatch, "'{}' to {}; it makes integers of at most 16 bits", c.op.def->name,
                   to_string(stored));
  int64_t low = c.op.attrs.integer("low"), high = c.op.attrs.integer("high"), zero = c.op.attrs.integer("zero_point");
  int64_t least = stored.is_int() ? -(int64_t{1} << (stored.bits - 1)) : 0;
  int64_t most = least + (int64_t{1} << stored.bits) - 1;
  for (int64_t bound : {low, high, zero})
    if (bound < least || bound > most)
      return c.error(Kind::invalid_attribute, "'{}' to {} with a bound or zero point of {}", c.op.def->name,
                     to_string(stored), bound);
  if (low > high) return c.error(Kind::invalid_attribute, "'{}' between {} and {}", c.op.def->name, low, high);
  for (const char* shift : {"left", "right"})
    if (const int64_t bits = c.op.attrs.integer(shift); bits < 0 || bits > 31)
      return c.error(Kind::invalid_attribute, "'{}' with a shift by {} bits", c.op.def->name, bits);
  const bool fixed = c.op.attrs.integer("right") > 0;
  if (fixed && *x->dtype != DType::i(32))
    return c.error(Kind::dtype_mismatch, "'{}' in fixed point of {}; it takes int32", c.op.def->name,
                   to_string(*x->dtype));
  const DType expected = fixed ? DType::i(32) : DType::f(32);
  for (size_t k : {1, 2}) {
    RELAXC_TRY(const TensorInfo* parameter, c.tensor(k));
    if (*parameter->dtype != expected)
      return c.error(Kind::dtype_mismatch, "operand '{}' of '{}' is {}, expected {}", c.op.def->operands[k].name,
                     c.op.def->name, to_string(*parameter->dtype), to_string(expected));
    RELAXC_DO(require_broadcast_to(c, *parameter->shape, *x->shape));
  }
  return one(tensor_info(c.context, *x->shape, stored));
}

/// Clamps a float, less the zero point, and stores it.
Expr stored_float(DefineContext& d, Expr value) {
  Context& context = d.context();
  const int64_t zero = d.attrs().integer("zero_point");
  const DType f32 = DType::f(32), i32 = DType::i(32);
  Expr rounding = context.imm_float(f32, 12582912.0);
  // Selects replace a NaN by a bound, as min and max would not. Each compiles to one instruction.
  Expr least = context.imm_float(f32, static_cast<double>(d.attrs().integer("low") - zero));
  Expr most = context.imm_float(f32, static_cast<double>(d.attrs().integer("high") - zero));
  value = select(arith::lt(most, value), most, value);
  value = select(arith::lt(value, least), least, value);
  Expr bits = context.call(i32, Intrinsic::k_bitcast, {value + rounding});
  return cast(d.output()->dtype, bits - context.imm(i32, kRoundingBits - zero));
}

/// The line of integers, or where the multiplier is odd that of floats.
Expr stored_line(DefineContext& d, Expr x, Expr multiplier, Expr addend) {
  const DType f32 = DType::f(32), i32 = DType::i(32), i64 = DType::i(64);
  const auto number = [&](const char* name) { return d.context().imm(i32, d.attrs().integer(name)); };
  const auto real = [&](Expr bits) { return d.context().call(f32, Intrinsic::k_bitcast, {bits}); };
  Expr one = d.context().imm(i32, 1), odd = call(Intrinsic::k_bitwise_and, multiplier, one);
  Expr wide = cast(i64, call(Intrinsic::k_shift_left, x, number("left"))) * cast(i64, multiplier);
  Expr sum = cast(i32, call(Intrinsic::k_shift_right, wide, d.context().imm(i64, 32))) + addend;
  Expr whole = call(Intrinsic::k_shift_right, sum, number("right"));
  whole = arith::min(arith::max(whole, number("low")), number("high"));
  Expr value = cast(f32, x) * real(call(Intrinsic::k_shift_right, multiplier, one)) + real(addend);
  return select(arith::eq(odd, one), stored_float(d, value), cast(d.output()->dtype, whole));
}

Stmt define(DefineContext& d) {
  BufferRef x = d.input(0), y = d.output();
  return d.builder.compute(y, [&](const Indices& i) {
    Expr value = d.builder.load(x, i);
    Expr multiplier = load_broadcast(d, d.input(1), i, x->shape), addend = load_broadcast(d, d.input(2), i, x->shape);
    if (d.attrs().integer("right") > 0) return stored_line(d, value, multiplier, addend);
    return stored_float(d, cast(DType::f(32), value) * multiplier + addend);
  });
}

constexpr OpDef kOps[] = {
    {.name = "requantize",
     .operands = kOperands,
     .attrs = kAttrs,
     .infer = infer,
     .define = define,
     .doc = "x * multiplier + addend rounded, plus zero_point, clamped to low..high; may be off by one next to a tie; "
            "with `right`, both are int32: an even multiplier is in fixed point, an odd one has the bits of float32"},
};

}  // namespace
}  // namespace relaxc::ops::requantize_family

RELAXC_OPERATORS(requantize, kOps)
