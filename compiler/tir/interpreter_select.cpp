// interpreter_select.cpp: selects the instruction of an expression's node by its dtype, and wraps or rounds its
// result.
#include "compiler/tir/interpreter_select.h"

#include "compiler/arith/angle.h"
#include "compiler/arith/math.h"
#include "compiler/arith/visit.h"

namespace relaxc::tir::interpreter {

using namespace arith;

namespace {

bool is_small(DType dtype) {
  return dtype.is_float() && dtype.bits < 32;
}
bool is_single(DType dtype) {
  return dtype.is_float() && dtype.bits <= 32;
}
bool is_unsigned64(DType dtype) {
  return dtype == DType::u(64);
}
bool needs_wrap(DType dtype) {
  return dtype.is_integer() && dtype.bits < 64;
}

/// Selects the form of an instruction for a dtype: float, double or int64.
Op pick(DType dtype, Op integer, Op single, Op dbl) {
  return !dtype.is_float() ? integer : is_single(dtype) ? single : dbl;
}

/// The instructions of a binary operation, by the dtype of its operands.
struct BinaryOps {
  ExprKind kind;
  Op integer, uint, uint64;  ///< signed, unsigned of less than 64 bits, unsigned of 64
  Op index;                  ///< for an index whose overflow is checked
  Op single, dbl;
  bool leaves_range;  ///< the result may need to be wrapped or rounded
};
constexpr BinaryOps kBinaryOps[] = {
    {ExprKind::kAdd, Op::kAddI, Op::kAddI, Op::kAddI, Op::kCheckedAddI, Op::kAddF, Op::kAddD, true},
    {ExprKind::kSub, Op::kSubI, Op::kSubI, Op::kSubI, Op::kCheckedSubI, Op::kSubF, Op::kSubD, true},
    {ExprKind::kMul, Op::kMulI, Op::kMulI, Op::kMulI, Op::kCheckedMulI, Op::kMulF, Op::kMulD, true},
    {ExprKind::kDiv, Op::kDivI, Op::kDivI, Op::kDivU, Op::kDivI, Op::kDivF, Op::kDivD, true},
    {ExprKind::kMod, Op::kModI, Op::kModI, Op::kModU, Op::kModI, Op::kModF, Op::kModD, true},
    {ExprKind::kFloorDiv, Op::kFloorDivI, Op::kDivI, Op::kDivU, Op::kFloorDivI, Op::kFloorDivF, Op::kFloorDivD, true},
    {ExprKind::kFloorMod, Op::kFloorModI, Op::kModI, Op::kModU, Op::kFloorModI, Op::kFloorModF, Op::kFloorModD, true},
    {ExprKind::kMin, Op::kMinI, Op::kMinI, Op::kMinU, Op::kMinI, Op::kMinF, Op::kMinD, false},
    {ExprKind::kMax, Op::kMaxI, Op::kMaxI, Op::kMaxU, Op::kMaxI, Op::kMaxF, Op::kMaxD, false},
    {ExprKind::kEq, Op::kEqI, Op::kEqI, Op::kEqI, Op::kEqI, Op::kEqF, Op::kEqD, false},
    {ExprKind::kNe, Op::kNeI, Op::kNeI, Op::kNeI, Op::kNeI, Op::kNeF, Op::kNeD, false},
    {ExprKind::kLt, Op::kLtI, Op::kLtI, Op::kLtU, Op::kLtI, Op::kLtF, Op::kLtD, false},
    {ExprKind::kLe, Op::kLeI, Op::kLeI, Op::kLeU, Op::kLeI, Op::kLeF, Op::kLeD, false},
    {ExprKind::kAnd, Op::kAndI, Op::kAndI, Op::kAndI, Op::kAndI, Op::kAndI, Op::kAndI, false},
    {ExprKind::kOr, Op::kOrI, Op::kOrI, Op::kOrI, Op::kOrI, Op::kOrI, Op::kOrI, false},
};

const BinaryOps& ops_of(ExprKind kind) {
  for (const BinaryOps& one : kBinaryOps)
    if (one.kind == kind) return one;
  RELAXC_UNREACHABLE("not a binary kind");
}

/// The instructions of functions on floats; on integers they return their operand.
struct RealOps {
  Intrinsic intrinsic;
  Op single, dbl;
};
constexpr RealOps kRealOps[] = {
    {Intrinsic::k_sqrt, Op::kSqrtF, Op::kSqrtD},
    {Intrinsic::k_floor, Op::kFloorF, Op::kFloorD},
    {Intrinsic::k_ceil, Op::kCeilF, Op::kCeilD},
    {Intrinsic::k_trunc, Op::kTruncF, Op::kTruncD},
    {Intrinsic::k_round, Op::kRoundF, Op::kRoundD},
    {Intrinsic::k_fma, Op::kFmaF, Op::kFmaD},
    {Intrinsic::k_copysign, Op::kCopysignF, Op::kCopysignD},
};

}  // namespace

/// Wraps or rounds the result of arithmetic to its dtype.
uint32_t Selection::fit(size_t level, uint32_t reg, DType dtype) {
  if (needs_wrap(dtype)) return code_.op(level, Op::kWrap, {reg}, dtype);
  if (is_small(dtype)) return code_.op(level, Op::kRoundSmall, {reg}, dtype);
  return reg;
}

uint32_t Selection::select(Expr e, size_t level, const std::vector<uint32_t>& in) {
  return arith::visit(
      e, [&](const IntImm& n) { return code_.constant({.i = n.value}); },
      [&](const FloatImm& n) {
        Register value{};
        if (n.dtype.bits == 64)
          value.d = n.value;
        else
          value.f = static_cast<float>(n.value);
        return code_.constant(value, n.dtype);
      },
      [&](const VarNode&) -> uint32_t { RELAXC_UNREACHABLE("a variable has a register"); },
      [&](const Binary& n) { return binary(n, level, in); }, [&](const Not&) { return code_.op(level, Op::kNotB, in); },
      [&](const Select&) { return code_.op(level, Op::kSelect, in); },
      [&](const Cast& n) { return cast(n.value.dtype(), n.dtype, level, in[0]); },
      [&](const Load&) -> uint32_t { RELAXC_UNREACHABLE("loads depend on more than registers"); },
      [&](const Call& n) { return call(n, level, in); }, [&](const Extern& n) { return external(n, level, in); });
}

uint32_t Selection::binary(const Binary& n, size_t level, const std::vector<uint32_t>& in) {
  const DType dtype = n.a.dtype();
  const bool checked = checked_ && dtype.is_index();
  const BinaryOps& ops = ops_of(n.kind);
  const Op integer = checked ? ops.index : is_unsigned64(dtype) ? ops.uint64 : dtype.is_uint() ? ops.uint : ops.integer;
  const int64_t failure = checked && ops.index != ops.integer ? guards_.overflow() : 0;
  const uint32_t made = code_.op(level, pick(dtype, integer, ops.single, ops.dbl), in, {}, failure);
  return ops.leaves_range ? fit(level, made, dtype) : made;
}

uint32_t Selection::cast(DType from, DType to, size_t level, uint32_t in) {
  if (from.is_float()) {
    bool single = is_single(from);
    if (to.is_bool()) return code_.op(level, single ? Op::kFToBool : Op::kDToBool, {in});
    if (!to.is_float()) return code_.op(level, single ? Op::kFToInt : Op::kDToInt, {in}, to);
    if (to.bits == 64) return single ? code_.op(level, Op::kFToD, {in}) : in;
    if (!single) return code_.op(level, Op::kDToF, {in}, to);
    return fit(level, in, to);
  }
  bool big = is_unsigned64(from);
  if (to.is_bool()) return code_.op(level, Op::kNeI, {in, code_.constant({.i = 0})});
  if (to.is_float()) {
    if (to.bits == 64) return code_.op(level, big ? Op::kUToD : Op::kIToD, {in});
    return fit(level, code_.op(level, big ? Op::kUToF : Op::kIToF, {in}), to);
  }
  return fit(level, in, to);
}

uint32_t Selection::call(const Call& n, size_t level, const std::vector<uint32_t>& in) {
  const DType dtype = n.args[0].dtype();
  for (const RealOps& ops : kRealOps)
    if (ops.intrinsic == n.intrinsic)
      return dtype.is_float() ? fit(level, code_.op(level, pick(dtype, {}, ops.single, ops.dbl), in), dtype) : in[0];
  switch (n.intrinsic) {
    case Intrinsic::k_abs:
      if (dtype.is_float()) return code_.op(level, is_single(dtype) ? Op::kAbsF : Op::kAbsD, in);
      return dtype.is_uint() || dtype.is_bool() ? in[0] : fit(level, code_.op(level, Op::kAbsI, in), dtype);
    case Intrinsic::k_isnan:
      return dtype.is_float() ? code_.op(level, pick(dtype, {}, Op::kIsnanF, Op::kIsnanD), in)
                              : code_.constant({.i = 0});
    case Intrinsic::k_isinf:
      return dtype.is_float() ? code_.op(level, pick(dtype, {}, Op::kIsinfF, Op::kIsinfD), in)
                              : code_.constant({.i = 0});
    case Intrinsic::k_bitwise_and:
      return code_.op(level, Op::kAndI, in);
    case Intrinsic::k_bitwise_or:
      return code_.op(level, Op::kOrI, in);
    case Intrinsic::k_bitwise_xor:
      return code_.op(level, Op::kXorI, in);
    case Intrinsic::k_bitwise_not:
      return dtype.is_bool() ? code_.op(level, Op::kNotB, in) : fit(level, code_.op(level, Op::kNotI, in), dtype);
    case Intrinsic::k_shift_left:
      return fit(level, code_.op(level, Op::kShiftLeft, in, dtype), dtype);
    case Intrinsic::k_shift_right:
      return code_.op(level, dtype.is_uint() ? Op::kShiftRightU : Op::kShiftRightI, in, dtype);
    case Intrinsic::k_popcount:
      return fit(level, code_.op(level, Op::kPopcount, in, dtype), n.dtype);
    case Intrinsic::k_clz:
      return fit(level, code_.op(level, Op::kClz, in, dtype), n.dtype);
    case Intrinsic::k_bitcast:
      return bitcast(dtype, n.dtype, level, in[0]);
    default:
      if (math_calls_ && is_expandable(n.intrinsic))
        return named(std::string(intrinsic_name(n.intrinsic)), n.dtype, n.args, level, in);
      RELAXC_UNREACHABLE(std::string(intrinsic_name(n.intrinsic)) + " has no instruction");
  }
}

uint32_t Selection::external(const Extern& n, size_t level, const std::vector<uint32_t>& in) {
  if (is_angle_call(Expr(&n))) return code_.op(level, n.name == kAngleRest ? Op::kAngleRest : Op::kAngleQuadrant, in);
  return named(n.name, n.dtype, n.args, level, in);
}

/// Emits a call of a plain C function with these operands.
uint32_t Selection::named(const std::string& name, DType dtype, const std::vector<Expr>& args, size_t level,
                          const std::vector<uint32_t>& in) {
  CallRecord record{name, true, dtype, {}};
  for (size_t i = 0; i < in.size(); ++i) record.args.push_back({false, in[i], args[i].dtype(), {}});
  return code_.emit_call(level, Op::kCallExternal, std::move(record));
}

uint32_t Selection::bitcast(DType from, DType to, size_t level, uint32_t in) {
  uint32_t bits = in;
  if (is_small(from)) bits = code_.op(level, Op::kSmallToBits, {in}, from);
  if (from == DType::f(32)) bits = code_.op(level, Op::kFToBits, {in});
  if (from.is_integer() && from.bits < 64) bits = code_.op(level, Op::kWrap, {in}, DType::u(from.bits));
  if (is_small(to)) return code_.op(level, Op::kBitsToSmall, {bits}, to);
  if (to == DType::f(32)) return code_.op(level, Op::kBitsToF, {bits});
  return needs_wrap(to) ? code_.op(level, Op::kWrap, {bits}, to) : bits;
}

Op load_op(DType dtype) {
  if (is_small(dtype)) return Op::kLoadSmall;
  if (dtype == DType::f(32)) return Op::kLoadF;
  bool sign = dtype.is_int();
  switch (dtype.bytes()) {
    case 1:
      return sign ? Op::kLoad8I : Op::kLoad8U;
    case 2:
      return sign ? Op::kLoad16I : Op::kLoad16U;
    case 4:
      return sign ? Op::kLoad32I : Op::kLoad32U;
    default:
      return Op::kLoad64;
  }
}

Op store_op(DType dtype) {
  if (is_small(dtype)) return Op::kStoreSmall;
  if (dtype == DType::f(32)) return Op::kStoreF;
  switch (dtype.bytes()) {
    case 1:
      return Op::kStore8;
    case 2:
      return Op::kStore16;
    case 4:
      return Op::kStore32;
    default:
      return Op::kStore64;
  }
}

}  // namespace relaxc::tir::interpreter
