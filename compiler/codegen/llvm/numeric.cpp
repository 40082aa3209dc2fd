// numeric.cpp: lowers arithmetic, comparison and conversion of elements.
//
// relaxc's operations are total where LLVM's are undefined or poison: integers wrap, division by zero gives 0, the
// least integer divided by -1 wraps, and conversions from float saturate. Floats carry no fast-math flag.
#include "compiler/codegen/llvm/numeric.h"

#include <cmath>

namespace relaxc::codegen_llvm {

using arith::ExprKind;
using llvm::Value;

namespace {

bool is_narrow(DType dtype) {
  return dtype.is_float() && dtype.bits < 32;
}
bool is_unsigned(DType dtype) {
  return dtype.is_uint() || dtype.is_bool();
}

}  // namespace

llvm::Type* Numeric::register_type(DType dtype) const {
  if (dtype.is_bool()) return b_.getInt1Ty();
  if (dtype.is_float()) return dtype.bits == 64 ? b_.getDoubleTy() : b_.getFloatTy();
  if (dtype == DType::handle()) return b_.getInt64Ty();
  RELAXC_CHECK(dtype.is_integer() || dtype.is_index(), "no register holds a " + to_string(dtype));
  return b_.getIntNTy(dtype.bits);
}

namespace {

bool is_sub_byte(DType dtype) {
  return dtype.is_integer() && dtype.bits < 8;
}

}  // namespace

llvm::Type* Numeric::memory_type(DType dtype) const {
  // An element of less than a byte has a byte of its own; as an LLVM vector it would share one.
  if (dtype.is_bool() || dtype.bits < 8) return b_.getInt8Ty();
  return is_narrow(dtype) ? b_.getIntNTy(dtype.bits) : register_type(dtype);
}

llvm::Value* Numeric::constant(DType dtype, int64_t value) const {
  return llvm::ConstantInt::get(register_type(dtype), static_cast<uint64_t>(dtype.is_bool() ? value != 0 : value),
                                false, true);
}

llvm::Value* Numeric::constant_float(DType dtype, double value) const {
  return llvm::ConstantFP::get(register_type(dtype), value);
}

llvm::Type* Numeric::shaped(llvm::Type* scalar, Value* like) const {
  if (auto* vector = llvm::dyn_cast<llvm::VectorType>(like->getType()))
    return llvm::VectorType::get(scalar, vector->getElementCount());
  return scalar;
}

Value* Numeric::number(Value* like, double value) const {
  llvm::Type* type = like->getType();
  if (type->isFPOrFPVectorTy()) return llvm::ConstantFP::get(type, value);
  return llvm::ConstantInt::get(type, static_cast<uint64_t>(static_cast<int64_t>(value)), true, true);
}

Value* Numeric::from_memory(DType dtype, Value* stored) {
  if (dtype.is_bool()) return b_.CreateICmpNE(stored, number(stored, 0));
  if (is_sub_byte(dtype)) return b_.CreateTrunc(stored, shaped(register_type(dtype), stored));
  return is_narrow(dtype) ? decode(dtype, stored) : stored;
}

Value* Numeric::to_memory(DType dtype, Value* value) {
  if (dtype.is_bool()) return b_.CreateZExt(value, shaped(b_.getInt8Ty(), value));
  if (is_sub_byte(dtype)) return b_.CreateIntCast(value, shaped(b_.getInt8Ty(), value), dtype.is_int());
  return is_narrow(dtype) ? encode(dtype, value) : value;
}

Value* Numeric::binary(ExprKind kind, DType dtype, Value* a, Value* b) {
  switch (kind) {
    case ExprKind::kAnd:
      return b_.CreateAnd(a, b);
    case ExprKind::kOr:
      return b_.CreateOr(a, b);
    default:
      break;
  }
  if (dtype.is_bool() && (kind == ExprKind::kMul || kind == ExprKind::kMin)) return b_.CreateAnd(a, b);
  if (dtype.is_bool() && (kind == ExprKind::kAdd || kind == ExprKind::kMax)) return b_.CreateOr(a, b);
  if (dtype.is_bool() && kind == ExprKind::kSub) return b_.CreateXor(a, b);
  if (!dtype.is_float()) return integer(kind, dtype, a, b);
  Value* out = floating(kind, a, b);
  return out->getType()->isIntOrIntVectorTy() ? out : round_to(dtype, out);
}

Value* Numeric::integer(ExprKind kind, DType dtype, Value* a, Value* b) {
  bool exact = dtype.is_index();  // a mathematical integer: overflow cannot happen
  bool u = is_unsigned(dtype);
  switch (kind) {
    case ExprKind::kAdd:
      return b_.CreateAdd(a, b, "", false, exact);
    case ExprKind::kSub:
      return b_.CreateSub(a, b, "", false, exact);
    case ExprKind::kMul:
      return b_.CreateMul(a, b, "", false, exact);
    case ExprKind::kMin:
    case ExprKind::kMax: {
      bool largest = kind == ExprKind::kMax;
      auto id = u ? (largest ? llvm::Intrinsic::umax : llvm::Intrinsic::umin)
                  : (largest ? llvm::Intrinsic::smax : llvm::Intrinsic::smin);
      return b_.CreateBinaryIntrinsic(id, a, b);
    }
    case ExprKind::kEq:
      return b_.CreateICmpEQ(a, b);
    case ExprKind::kNe:
      return b_.CreateICmpNE(a, b);
    case ExprKind::kLt:
      return u ? b_.CreateICmpULT(a, b) : b_.CreateICmpSLT(a, b);
    case ExprKind::kLe:
      return u ? b_.CreateICmpULE(a, b) : b_.CreateICmpSLE(a, b);
    default:
      return divide(kind, dtype, a, b);
  }
}

Value* Numeric::divide(ExprKind kind, DType dtype, Value* a, Value* b) {
  bool quotient = kind == ExprKind::kDiv || kind == ExprKind::kFloorDiv;
  bool floor = kind == ExprKind::kFloorDiv || kind == ExprKind::kFloorMod;
  auto* divisor = llvm::dyn_cast<llvm::Constant>(b);
  if (auto* splat = divisor != nullptr ? divisor->getSplatValue() : nullptr) divisor = splat;
  auto* number_b = llvm::dyn_cast_or_null<llvm::ConstantInt>(divisor);
  bool known = number_b != nullptr && !number_b->isZero();
  Value *zero = number(b, 0), *one = number(b, 1);
  Value* is_zero = known ? nullptr : b_.CreateICmpEQ(b, zero);

  Value* out = nullptr;
  if (is_unsigned(dtype)) {
    Value* safe = known ? b : b_.CreateSelect(is_zero, one, b);
    out = quotient ? b_.CreateUDiv(a, safe) : b_.CreateURem(a, safe);
  } else {
    if (known && floor && number_b->getValue().isStrictlyPositive() && number_b->getValue().isPowerOf2()) {
      if (quotient) return b_.CreateAShr(a, number(b, number_b->getValue().logBase2()));
      return b_.CreateAnd(a, llvm::ConstantInt::get(b->getType(), number_b->getValue() - 1));
    }
    bool may_be_minus_one = !(known && !number_b->isMinusOne()) && !dtype.is_index();
    Value* minus_one = may_be_minus_one ? b_.CreateICmpEQ(b, number(b, -1)) : nullptr;
    Value* unsafe = is_zero;
    if (minus_one != nullptr) unsafe = unsafe != nullptr ? b_.CreateOr(unsafe, minus_one) : minus_one;
    Value* safe = unsafe != nullptr ? b_.CreateSelect(unsafe, one, b) : b;
    Value* q = b_.CreateSDiv(a, safe);
    if (minus_one != nullptr) q = b_.CreateSelect(minus_one, b_.CreateNeg(a), q);
    Value* r = b_.CreateSRem(a, safe);  // where b is -1, by 1: 0, which is right
    if (floor) {
      Value* signs_differ = b_.CreateICmpSLT(b_.CreateXor(r, b), zero);
      Value* down = b_.CreateAnd(b_.CreateICmpNE(r, zero), signs_differ);
      q = b_.CreateSub(q, b_.CreateZExt(down, q->getType()));
      r = b_.CreateSelect(down, b_.CreateAdd(r, b), r);
    }
    out = quotient ? q : r;
  }
  return is_zero != nullptr ? b_.CreateSelect(is_zero, zero, out) : out;
}

Value* Numeric::floating(ExprKind kind, Value* a, Value* b) {
  switch (kind) {
    case ExprKind::kAdd:
      return b_.CreateFAdd(a, b);
    case ExprKind::kSub:
      return b_.CreateFSub(a, b);
    case ExprKind::kMul:
      return b_.CreateFMul(a, b);
    case ExprKind::kDiv:
      return b_.CreateFDiv(a, b);
    case ExprKind::kMod:
      return float_remainder(a, b);
    case ExprKind::kFloorDiv:
      return round_to_integral(llvm::Intrinsic::floor, b_.CreateFDiv(a, b));
    case ExprKind::kFloorMod:
      return b_.CreateFSub(a, b_.CreateFMul(round_to_integral(llvm::Intrinsic::floor, b_.CreateFDiv(a, b)), b));
    case ExprKind::kMin:
      return min_or_max(false, a, b);
    case ExprKind::kMax:
      return min_or_max(true, a, b);
    case ExprKind::kEq:
      return b_.CreateFCmpOEQ(a, b);
    case ExprKind::kNe:
      return b_.CreateFCmpUNE(a, b);
    case ExprKind::kLt:
      return b_.CreateFCmpOLT(a, b);
    case ExprKind::kLe:
      return b_.CreateFCmpOLE(a, b);
    default:
      RELAXC_UNREACHABLE("not an operation on floats");
  }
}

/// Returns `a` if it is beyond `b` or NaN, else `b`. On x86 that is one instruction if one of them is a constant (not
/// 0 as `b`, since zeros have signs), and three if `a` may be NaN. The freeze keeps LLVM from merging two selects into
/// one under both conditions, which is four instructions.
Value* Numeric::min_or_max(bool largest, Value* a, Value* b) {
  auto number_of = [](Value* value) {
    auto* constant = llvm::dyn_cast<llvm::Constant>(value);
    if (constant != nullptr && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
    return llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  };
  const llvm::ConstantFP* last = number_of(b);
  if (last != nullptr && !last->isNaN() && !last->isZero()) std::swap(a, b);
  Value* beyond = b_.CreateSelect(largest ? b_.CreateFCmpOGT(a, b) : b_.CreateFCmpOLT(a, b), a, b);
  const llvm::ConstantFP* first = number_of(a);
  bool never_nan = first != nullptr && !first->isNaN();
  if (never_nan) return beyond;
  beyond = b_.CreateFreeze(beyond);
  return b_.CreateSelect(b_.CreateFCmpUNO(a, a), a, beyond);
}

/// Converts a vector with saturation on x86, where LLVM splits the intrinsic into lanes: values are clamped first, so
/// that the plain conversion cannot overflow. Null where the intrinsic is as good.
Value* Numeric::lanes_to_integer(DType to, Value* value) {
  llvm::Type* element = value->getType()->getScalarType();
  bool fits = to.bits >= 8 && (to.bits < 32 || (to.bits == 32 && !is_unsigned(to)));
  bool known = element->isFloatTy() || element->isDoubleTy();
  if (!b_.GetInsertBlock()->getModule()->getTargetTriple().isX86() || !value->getType()->isVectorTy() || !fits ||
      !known)
    return nullptr;
  double low = is_unsigned(to) ? 0 : -std::ldexp(1.0, to.bits - 1);
  double high = std::ldexp(1.0, is_unsigned(to) ? to.bits : to.bits - 1) - 1;
  bool exact = to.bits < 32 || element->isDoubleTy();
  Value *least = number(value, low), *most = number(value, exact ? high : std::nextafterf(2147483648.0F, 0));
  Value* inside = b_.CreateSelect(b_.CreateFCmpOGT(value, least), value, least);
  inside = b_.CreateSelect(b_.CreateFCmpOLT(inside, most), inside, most);
  llvm::Type* type = shaped(register_type(to), value);
  Value* whole = b_.CreateTrunc(b_.CreateFPToSI(inside, shaped(b_.getInt32Ty(), value)), type);
  if (!exact) {
    auto* largest = llvm::ConstantInt::get(type, INT32_MAX);
    whole = b_.CreateSelect(b_.CreateFCmpOGE(value, number(value, high + 1)), largest, whole);
  }
  return b_.CreateSelect(b_.CreateFCmpUNO(value, value), llvm::Constant::getNullValue(type), whole);
}

Value* Numeric::cast(DType from, DType to, Value* value) {
  if (from == to) return value;
  llvm::Type* type = shaped(register_type(to), value);
  if (from.is_float()) {
    if (to.is_bool()) return b_.CreateFCmpUNE(value, number(value, 0));
    if (Value* whole = to.is_float() ? nullptr : lanes_to_integer(to, value)) return whole;
    if (!to.is_float())
      return b_.CreateIntrinsic(is_unsigned(to) ? llvm::Intrinsic::fptoui_sat : llvm::Intrinsic::fptosi_sat,
                                {type, value->getType()}, {value});
    if (to == DType::f(64)) return b_.CreateFPExt(value, type);
    return from == DType::f(64) || is_narrow(to) ? round_to(to, value) : value;
  }
  if (to.is_float()) {
    Value* out = is_unsigned(from) ? b_.CreateUIToFP(value, type) : b_.CreateSIToFP(value, type);
    return round_to(to, out);
  }
  if (to.is_bool()) return b_.CreateICmpNE(value, number(value, 0));
  return is_unsigned(from) ? b_.CreateZExtOrTrunc(value, type) : b_.CreateSExtOrTrunc(value, type);
}

}  // namespace relaxc::codegen_llvm
