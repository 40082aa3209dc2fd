// quantize.cpp: converts real numbers to integers and back: real = (stored - zero_point) * scale.
//
// Scale and zero point are one number for the whole tensor or one for each index along an axis. Quotients are rounded
// to nearest, ties to even, and clamped to the range of the stored dtype after the zero point is added; NaN gives the
// zero point. Everything is computed in float32 (float64 for float64 data); the zero point is subtracted from stored
// values in integers.
#include "compiler/ops/common/element.h"
#include "compiler/ops/common/shape.h"

namespace relaxc::ops::quantize_family {
namespace {

constexpr OperandDef kOperands[] = {{"x"}, {"scale"}, {"zero_point", OperandDef::kOptional}};
constexpr AttrDef kQuantize[] = {{"axis", AttrType::kInt, false, "-1"},
                                 {"out_dtype", AttrType::kDType, false, "uint8"}};
constexpr AttrDef kDequantize[] = {{"axis", AttrType::kInt, false, "-1"}};

/// Integers of at most 16 bits: int32 holds their differences exactly, and so does float32.
bool is_stored(DType dtype) {
  return dtype.is_integer() && dtype.bits <= 16;
}

/// Checks that scale and zero point have one element or are vectors along the axis.
relaxc::Status check_parameters(InferContext& c, const TensorInfo& x, DType stored) {
  for (size_t k = 1; k < 3; ++k) {
    if (!c.has(k)) continue;
    RELAXC_TRY(const TensorInfo* p, c.tensor(k));
    std::string_view name = c.op.def->operands[k].name;
    if (k == 1 ? !p->dtype->is_float() : *p->dtype != stored)
      return c.error(Kind::dtype_mismatch, "operand '{}' of '{}' is {}, expected {}", name, c.op.def->name,
                     to_string(*p->dtype), k == 1 ? "a float" : to_string(stored));
    if (p->ndim > 1)
      return c.error(Kind::rank_mismatch, "operand '{}' of '{}' has {} dims; one number or a vector is expected", name,
                     c.op.def->name, p->ndim);
    if (p->ndim == 0 || (*p->shape)[0].is_constant(1)) continue;
    RELAXC_TRY(int64_t axis, c.axis(c.op.attrs.integer("axis"), x.ndim));
    RELAXC_DO(
        require_equal(c, (*x.shape)[static_cast<size_t>(axis)], (*p->shape)[0], fmt::format("places of '{}'", name)));
  }
  return Done{};
}

InferResult infer_quantize(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  DType stored = c.op.attrs.dtype("out_dtype");
  if (!x->dtype->is_float() || !is_stored(stored))
    return c.error(Kind::dtype_mismatch, "'{}' of {} to {}; it converts floats to integers of at most 16 bits",
                   c.op.def->name, to_string(*x->dtype), to_string(stored));
  RELAXC_DO(check_parameters(c, *x, stored));
  return one(tensor_info(c.context, *x->shape, stored));
}

InferResult infer_dequantize(InferContext& c) {
  RELAXC_TRY(const TensorInfo* x, c.tensor(0));
  RELAXC_TRY(const TensorInfo* scale, c.tensor(1));
  bool fits = is_stored(*x->dtype) || *x->dtype == DType::i(32);
  if (!fits)
    return c.error(Kind::dtype_mismatch, "'{}' of {}; it takes integers of at most 16 bits, or int32", c.op.def->name,
                   to_string(*x->dtype));
  RELAXC_DO(check_parameters(c, *x, *x->dtype));
  return one(tensor_info(c.context, *x->shape, *scale->dtype));
}

/// Returns the element of parameter `k` (scale or zero point) that applies to the element at `i`.
Expr parameter(DefineContext& d, size_t k, const Indices& i) {
  BufferRef p = d.input(k);
  if (p->shape.empty()) return d.builder.load(p, {});
  if (p->shape[0].is_constant(1)) return d.builder.load(p, {d.builder.index(0)});
  return d.builder.load(p, {i[axis_of(d.attrs().integer("axis"), i.size())]});
}

Stmt define_quantize(DefineContext& d) {
  BufferRef x = d.input(0), y = d.output();
  return d.builder.compute(y, [&](const Indices& i) {
    Expr value = widen(d.builder.load(x, i)), scale = cast(value.dtype(), parameter(d, 1, i));
    Expr zero_point = d.has(2) ? cast(value.dtype(), parameter(d, 2, i)) : like(value, 0);
    Expr low = cast(value.dtype(), lowest(d.context(), y->dtype));
    Expr high = cast(value.dtype(), highest(d.context(), y->dtype));
    Expr rounded = call(Intrinsic::k_round, value / scale);
    rounded = select(call(Intrinsic::k_isnan, rounded), like(rounded, 0), rounded);
    return cast(y->dtype, arith::max(low, arith::min(high, rounded + zero_point)));
  });
}

Stmt define_dequantize(DefineContext& d) {
  BufferRef x = d.input(0), y = d.output();
  DType i32 = DType::i(32), real = wide(y->dtype);
  return d.builder.compute(y, [&](const Indices& i) {
    Expr stored = cast(i32, d.builder.load(x, i));
    if (d.has(2)) stored = stored - cast(i32, parameter(d, 2, i));
    return cast(y->dtype, cast(real, stored) * cast(real, parameter(d, 1, i)));
  });
}

constexpr OpDef kOps[] = {
    {.name = "quantize",
     .operands = kOperands,
     .attrs = kQuantize,
     .infer = infer_quantize,
     .define = define_quantize,
     .doc = "x / scale rounded, plus zero_point, clamped to the range of out_dtype"},
    {.name = "dequantize",
     .operands = kOperands,
     .attrs = kDequantize,
     .infer = infer_dequantize,
     .define = define_dequantize,
     .doc = "(x - zero_point) * scale, in the scale's dtype"},
};

}  // namespace
}  // namespace relaxc::ops::quantize_family

RELAXC_OPERATORS(quantize, kOps)
