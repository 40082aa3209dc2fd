// sort_key.cpp: see sort_key.h. A float's bits, read as an integer of sign and magnitude, are in the order of their
// values: the sign bit is flipped where it is 0, and all bits where it is 1.
#include "compiler/ops/common/sort_key.h"

#include "compiler/ops/common/element.h"

namespace relaxc::ops {
namespace {

/// Floats of 8 bits and less are compared as float32, since some of their formats have no sign, zero or infinity.
DType compared_dtype(DType dtype) {
  if (dtype.is_float()) return dtype.bits < 16 ? DType::f(32) : dtype;
  if (dtype.is_bool()) return DType::u(8);
  const uint8_t bits = std::max<uint8_t>(dtype.bits, 8);
  return dtype.is_int() ? DType::i(bits) : DType::u(bits);
}

Expr bits_of(Expr element, DType dtype) {
  return element.context().call(dtype, Intrinsic::k_bitcast, {element});
}

/// Returns the sign bit as a number of the unsigned dtype.
Expr sign_bit(Context& context, DType dtype) {
  return context.imm(dtype, static_cast<int64_t>(uint64_t{1} << (dtype.bits - 1)));
}

Expr float_key(Expr element, DType dtype) {
  Context& context = element.context();
  Expr sign = sign_bit(context, dtype), ones = context.imm(dtype, -1), bits = bits_of(element, dtype);
  Expr magnitude = select(arith::eq(bits, sign), context.imm(dtype, 0), bits);  // -0 becomes 0
  Expr key = select(arith::lt(magnitude, sign), magnitude + sign, call(Intrinsic::k_bitwise_not, magnitude));
  return select(call(Intrinsic::k_isnan, element), ones, key);
}

}  // namespace

DType sort_key_dtype(DType dtype) {
  return DType::u(compared_dtype(dtype).bits);
}

Expr sort_key(Expr element, bool descending) {
  const DType dtype = sort_key_dtype(element.dtype());
  Expr compared = cast(compared_dtype(element.dtype()), element), key = cast(dtype, compared);
  if (compared.dtype().is_float()) key = float_key(compared, dtype);
  if (compared.dtype().is_int()) key = key + sign_bit(element.context(), dtype);
  return descending ? call(Intrinsic::k_bitwise_not, key) : key;
}

}  // namespace relaxc::ops
