// interpreter_ops.h: the semantics of each instruction without side effects, for single values and for batches.
//
// The statements use `d` (result), `a`, `b`, `c` (operands) and `n` (the instruction).
#pragma once

#include <bit>
#include <cmath>

#include "compiler/arith/angle.h"
#include "compiler/arith/float_bits.h"
#include "compiler/tir/interpreter_code.h"

namespace relaxc::tir::interpreter {

inline int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t wrapping_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
inline int64_t wrapping_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
/// Division by zero gives 0; the one quotient that does not fit int64 wraps.
inline int64_t quotient(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? wrapping_sub(0, a) : a / b;
}
inline int64_t remainder(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}
inline bool rounds_down(int64_t a, int64_t b) {
  int64_t r = remainder(a, b);
  return r != 0 && (r < 0) != (b < 0);
}

template <typename T>
T minimum(T a, T b) {
  return a < b || a != a ? a : b;
}
template <typename T>
T maximum(T a, T b) {
  return a > b || a != a ? a : b;
}

template <typename T>
inline int64_t to_integer(T value, DType dtype) {
  if (value != value) return 0;
  bool sign = dtype.is_int() || dtype.is_index();
  int bits = dtype.bits - (sign ? 1 : 0);
  double limit = std::ldexp(1.0, bits), v = static_cast<double>(value);
  if (sign) {
    if (v >= limit) return static_cast<int64_t>((uint64_t{1} << bits) - 1);
    return v <= -limit ? static_cast<int64_t>(~((uint64_t{1} << bits) - 1)) : static_cast<int64_t>(v);
  }
  if (v <= 0) return 0;
  if (v >= limit) return static_cast<int64_t>(bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1);
  return static_cast<int64_t>(static_cast<uint64_t>(v));
}

inline float round_small(DType dtype, double value) {
  return static_cast<float>(arith::decode_float(dtype, arith::encode_float(dtype, value)));
}

inline uint64_t mask_of(DType dtype) {
  return dtype.bits >= 64 ? UINT64_MAX : (uint64_t{1} << dtype.bits) - 1;
}

/// Returns the integer wrapped to an integer dtype.
inline int64_t wrap(int64_t value, DType dtype) {
  int unused = 64 - dtype.bits;
  uint64_t high = static_cast<uint64_t>(value) << unused;
  return dtype.is_uint() ? static_cast<int64_t>(high >> unused) : static_cast<int64_t>(high) >> unused;
}

// clang-format off
/// X(name, statement) for float (S = F, field = f) or double (S = D, field = d).
#define RELAXC_REAL_OPS(X, S, field)                                                      \
  X(Add##S, d.field = a.field + b.field)                                      \
  X(Sub##S, d.field = a.field - b.field)                                      \
  X(Mul##S, d.field = a.field * b.field)                                      \
  X(Div##S, d.field = a.field / b.field)                                      \
  X(Mod##S, d.field = std::fmod(a.field, b.field))                            \
  X(FloorDiv##S, d.field = std::floor(a.field / b.field))                     \
  X(FloorMod##S, d.field = a.field - std::floor(a.field / b.field) * b.field)  \
  X(Min##S, d.field = minimum(a.field, b.field))                              \
  X(Max##S, d.field = maximum(a.field, b.field))                              \
  X(Eq##S, d.i = a.field == b.field)                                          \
  X(Ne##S, d.i = a.field != b.field)                                          \
  X(Lt##S, d.i = a.field < b.field)                                           \
  X(Le##S, d.i = a.field <= b.field)                                          \
  X(Sqrt##S, d.field = std::sqrt(a.field))                                    \
  X(Floor##S, d.field = std::floor(a.field))                                  \
  X(Ceil##S, d.field = std::ceil(a.field))                                    \
  X(Trunc##S, d.field = std::trunc(a.field))                                  \
  X(Round##S, d.field = std::nearbyint(a.field))                              \
  X(Abs##S, d.field = std::fabs(a.field))                                     \
  X(Fma##S, d.field = std::fma(a.field, b.field, c.field))               \
  X(Copysign##S, d.field = std::copysign(a.field, b.field))                   \
  X(Isnan##S, d.i = std::isnan(a.field))                                      \
  X(Isinf##S, d.i = std::isinf(a.field))

/// X(name, statement) for all instructions without side effects.
#define RELAXC_PURE_OPS(X) \
  X(Move, d = a) \
  X(AddI, d.i = wrapping_add(a.i, b.i)) \
  X(SubI, d.i = wrapping_sub(a.i, b.i)) \
  X(MulI, d.i = wrapping_mul(a.i, b.i)) \
  X(DivI, d.i = quotient(a.i, b.i)) \
  X(ModI, d.i = remainder(a.i, b.i)) \
  X(FloorDivI, d.i = wrapping_sub(quotient(a.i, b.i), rounds_down(a.i, b.i))) \
  X(FloorModI, d.i = remainder(a.i, b.i) + (rounds_down(a.i, b.i) ? b.i : 0)) \
  X(MinI, d.i = a.i < b.i ? a.i : b.i) \
  X(MaxI, d.i = a.i > b.i ? a.i : b.i) \
  X(EqI, d.i = a.i == b.i) \
  X(NeI, d.i = a.i != b.i) \
  X(LtI, d.i = a.i < b.i) \
  X(LeI, d.i = a.i <= b.i) \
  X(DivU, d.u = b.u == 0 ? 0 : a.u / b.u) \
  X(ModU, d.u = b.u == 0 ? 0 : a.u % b.u) \
  X(MinU, d.u = a.u < b.u ? a.u : b.u) \
  X(MaxU, d.u = a.u > b.u ? a.u : b.u) \
  X(LtU, d.i = a.u < b.u) \
  X(LeU, d.i = a.u <= b.u) \
  X(AndI, d.u = a.u & b.u) \
  X(OrI, d.u = a.u | b.u) \
  X(XorI, d.u = a.u ^ b.u) \
  X(NotI, d.u = ~a.u) \
  X(NotB, d.i = a.i == 0) \
  X(AbsI, d.i = a.i < 0 ? wrapping_sub(0, a.i) : a.i) \
  X(Select, d = a.i != 0 ? b : c) \
  X(Wrap, d.i = wrap(a.i, n.dtype)) \
  X(ShiftLeft, d.u = b.u < n.dtype.bits ? a.u << b.u : 0) \
  X(ShiftRightI, d.i = a.i >> (b.u < n.dtype.bits ? b.u : static_cast<uint64_t>(n.dtype.bits - 1))) \
  X(ShiftRightU, d.u = b.u < n.dtype.bits ? a.u >> b.u : 0) \
  X(Popcount, d.i = std::popcount(a.u & mask_of(n.dtype))) \
  X(Clz, d.i = std::countl_zero(a.u & mask_of(n.dtype)) - (64 - n.dtype.bits)) \
  RELAXC_REAL_OPS(X, F, f) \
  RELAXC_REAL_OPS(X, D, d) \
  X(AngleRest, d.d = arith::angle_rest(a.d, b.d, c.d)) \
  X(AngleQuadrant, d.d = arith::angle_quadrant(a.d, b.d, c.d)) \
  X(RoundSmall, d.f = round_small(n.dtype, static_cast<double>(a.f))) \
  X(IToF, d.f = static_cast<float>(a.i)) \
  X(IToD, d.d = static_cast<double>(a.i)) \
  X(UToF, d.f = static_cast<float>(a.u)) \
  X(UToD, d.d = static_cast<double>(a.u)) \
  X(FToD, d.d = static_cast<double>(a.f)) \
  X(DToF, d.f = n.dtype.bits == 32 ? static_cast<float>(a.d) : round_small(n.dtype, static_cast<double>(static_cast<float>(a.d)))) \
  X(FToInt, d.i = to_integer(a.f, n.dtype)) \
  X(DToInt, d.i = to_integer(a.d, n.dtype)) \
  X(FToBool, d.i = a.f != 0) \
  X(DToBool, d.i = a.d != 0) \
  X(SmallToBits, d.u = arith::encode_float(n.dtype, static_cast<double>(a.f))) \
  X(BitsToSmall, d.f = static_cast<float>(arith::decode_float(n.dtype, a.u & mask_of(n.dtype)))) \
  X(FToBits, d.u = std::bit_cast<uint32_t>(a.f)) \
  X(BitsToF, d.f = std::bit_cast<float>(static_cast<uint32_t>(a.u)))
// clang-format on

}  // namespace relaxc::tir::interpreter
