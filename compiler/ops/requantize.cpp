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
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"

namespace relaxc::ops::requantize_family {
namespace {

constexpr OperandDef kOperands[] = {{"x"}, {"multiplier"}, {"addend"}};
constexpr AttrDef kAttrs[] = {{"zero_point", AttrType::kInt, true},
                              {"low", AttrType::kInt, true},
                              {"high", AttrType::kInt, true},
                              {"out_dtype", AttrType::kDType, false, "uint8"}};

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
  for (size_t k : {1, 2}) {
    RELAXC_TRY(const TensorInfo* parameter, c.tensor(k));
    if (*parameter->dtype != DType::f(32))
      return c.error(Kind::dtype_mismatch, "operand '{}' of '{}' is {}, expected float32", c.op.def->operands[k].name,
                     c.op.def->name, to_string(*parameter->dtype));
    RELAXC_DO(require_broadcast_to(c, *parameter->shape, *x->shape));
  }
  return one(tensor_info(c.context, *x->shape, stored));
}

Stmt define(DefineContext& d) {
  BufferRef x = d.input(0), y = d.output();
  DType f32 = DType::f(32), i32 = DType::i(32);
  int64_t zero = d.attrs().integer("zero_point");
  double low = static_cast<double>(d.attrs().integer("low") - zero);
  double high = static_cast<double>(d.attrs().integer("high") - zero);
  Context& context = d.context();
  Expr rounding = context.imm_float(f32, 12582912.0);
  // Selects replace a NaN by a bound, as min and max would not. Each compiles to one instruction.
  Expr least = context.imm_float(f32, low), most = context.imm_float(f32, high);
  return d.builder.compute(y, [&](const Indices& i) {
    Expr value = cast(f32, d.builder.load(x, i)) * load_broadcast(d, d.input(1), i, x->shape);
    value = value + load_broadcast(d, d.input(2), i, x->shape);
    value = select(arith::lt(most, value), most, value);
    value = select(arith::lt(value, least), least, value);
    Expr bits = context.call(i32, Intrinsic::k_bitcast, {value + rounding});
    return cast(y->dtype, bits - context.imm(i32, kRoundingBits - zero));
  });
}

constexpr OpDef kOps[] = {
    {.name = "requantize",
     .operands = kOperands,
     .attrs = kAttrs,
     .infer = infer,
     .define = define,
     .doc = "x * multiplier + addend rounded, plus zero_point, clamped to low..high; may be off by one next to a tie"},
};

}  // namespace
}  // namespace relaxc::ops::requantize_family

RELAXC_OPERATORS(requantize, kOps)
