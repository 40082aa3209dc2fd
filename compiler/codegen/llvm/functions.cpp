// functions.cpp: lowers the scalar functions of the text IR.
//
// A pass has lowered exp, tanh and the like to polynomials before an object is emitted; only evaluation inside of
// relaxc may still see them, and calls libm lane by lane as the interpreter does. Rounding and fma become arithmetic on
// CPUs that would need a library call for them.
#include <cmath>

#include "compiler/codegen/llvm/numeric.h"

namespace relaxc::codegen_llvm {

using arith::Intrinsic;
using llvm::Value;
using tir::RuntimeFunction;

Value* Numeric::call(Intrinsic intrinsic, DType from, DType to, const std::vector<Value*>& args) {
  switch (intrinsic) {
    case Intrinsic::k_bitwise_and:
      return b_.CreateAnd(args[0], args[1]);
    case Intrinsic::k_bitwise_or:
      return b_.CreateOr(args[0], args[1]);
    case Intrinsic::k_bitwise_xor:
      return b_.CreateXor(args[0], args[1]);
    case Intrinsic::k_bitwise_not:
      return b_.CreateNot(args[0]);
    case Intrinsic::k_shift_left:
      return shift(true, from, args[0], args[1]);
    case Intrinsic::k_shift_right:
      return shift(false, from, args[0], args[1]);
    case Intrinsic::k_popcount:
    case Intrinsic::k_clz:
    case Intrinsic::k_bitcast:
      return bits_function(intrinsic, from, to, args);
    case Intrinsic::k_isnan:
      return from.is_float() ? b_.CreateFCmpUNO(args[0], args[0]) : cast(from, to, number(args[0], 0));
    case Intrinsic::k_isinf:
      if (!from.is_float()) return cast(from, to, number(args[0], 0));
      return b_.CreateFCmpOEQ(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, args[0]), number(args[0], HUGE_VAL));
    case Intrinsic::k_abs:
      if (from.is_uint() || from.is_bool()) return args[0];
      if (!from.is_float()) return b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, args[0], b_.getFalse());
      return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, args[0]);
    default:
      break;
  }
  if (!from.is_float()) {  // rounding an integer; other functions have no integer meaning
    RELAXC_CHECK(intrinsic >= Intrinsic::k_floor && intrinsic <= Intrinsic::k_round,
                 std::string(arith::intrinsic_name(intrinsic)) + " of " + to_string(from));
    return args[0];
  }
  return round_to(to, float_function(intrinsic, args));
}

Value* Numeric::bits_function(Intrinsic intrinsic, DType from, DType to, const std::vector<Value*>& args) {
  switch (intrinsic) {
    case Intrinsic::k_popcount:
      return b_.CreateZExtOrTrunc(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, args[0]),
                                  shaped(register_type(to), args[0]));
    case Intrinsic::k_clz:
      return b_.CreateZExtOrTrunc(b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, args[0], b_.getFalse()),
                                  shaped(register_type(to), args[0]));
    default:
      return from_memory(to, b_.CreateBitCast(to_memory(from, args[0]), shaped(memory_type(to), args[0])));
  }
}

Value* Numeric::shift(bool left, DType dtype, Value* a, Value* amount) {
  Value* width = number(a, dtype.bits);
  Value* inside = b_.CreateICmpULT(amount, width);
  if (left || !(dtype.is_int() || dtype.is_index())) {
    Value* safe = b_.CreateSelect(inside, amount, number(a, 0));
    Value* out = left ? b_.CreateShl(a, safe) : b_.CreateLShr(a, safe);
    return b_.CreateSelect(inside, out, number(a, 0));
  }
  return b_.CreateAShr(a, b_.CreateSelect(inside, amount, number(a, dtype.bits - 1)));
}

Value* Numeric::round_to_integral(llvm::Intrinsic::ID id, Value* x) {
  if (capabilities_.rounding) return b_.CreateUnaryIntrinsic(id, x);
  bool is_double = x->getType()->getScalarType()->isDoubleTy();
  double unit = std::ldexp(1.0, is_double ? 52 : 23);  // from here on every value is integral
  Value* magnitude = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value* small = b_.CreateFCmpOLT(magnitude, number(x, unit));
  Value* whole = nullptr;
  if (id == llvm::Intrinsic::roundeven) {
    whole = b_.CreateFSub(b_.CreateFAdd(magnitude, number(x, unit)), number(x, unit));
    whole = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, whole, x);
  } else {
    Value* integer = b_.CreateFPToSI(b_.CreateSelect(small, x, number(x, 0)),
                                     shaped(is_double ? b_.getInt64Ty() : b_.getInt32Ty(), x));
    whole = b_.CreateSIToFP(integer, x->getType());
    if (id == llvm::Intrinsic::floor) {
      Value* below = b_.CreateFSub(whole, number(x, 1));
      whole = b_.CreateSelect(b_.CreateFCmpOGT(whole, x), below, whole);
    }
    if (id == llvm::Intrinsic::ceil) {
      Value* above = b_.CreateFAdd(whole, number(x, 1));
      whole = b_.CreateSelect(b_.CreateFCmpOLT(whole, x), above, whole);
    }
    whole = b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, whole, x);
  }
  return b_.CreateSelect(small, whole, x);
}

/// Returns the square root. Without the instruction it calls a function of runtime-lite, since no libm is linked.
Value* Numeric::square_root(Value* x) {
  bool is_double = x->getType()->getScalarType()->isDoubleTy();
  if (is_double ? capabilities_.sqrt_double : capabilities_.sqrt_single)
    return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
  return call_scalar(is_double ? RuntimeFunction::kSqrt : RuntimeFunction::kSqrtf, {x});
}

/// Returns a * b + c with one rounding. Without the instruction, float goes through double, where the product is exact
/// and the error of the sum decides the last bit (rounding to odd), so that the second rounding is right. A CPU
/// without double calls a function of runtime-lite.
Value* Numeric::fused(Value* a, Value* b, Value* c) {
  bool is_double = a->getType()->getScalarType()->isDoubleTy();
  bool there = capabilities_.fma || (capabilities_.fma_single && !is_double);
  if (!there && is_double) return call_scalar(RuntimeFunction::kFma, {a, b, c});
  if (!there && !capabilities_.doubles) return call_scalar(RuntimeFunction::kFmaf, {a, b, c});
  if (there) return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  llvm::Type* doubles = shaped(b_.getDoubleTy(), a);
  llvm::Type* ints = shaped(b_.getInt64Ty(), a);
  Value* right = b_.CreateFPExt(b, doubles);
  Value* product = b_.CreateFMul(b_.CreateFPExt(a, doubles), right);
  Value* addend = b_.CreateFPExt(c, doubles);
  Value* sum = b_.CreateFAdd(product, addend);
  Value* of_addend = b_.CreateFSub(sum, product);
  Value* lost = b_.CreateFSub(addend, of_addend);
  Value* error = b_.CreateFAdd(b_.CreateFSub(product, b_.CreateFSub(sum, of_addend)), lost);
  Value* zero = number(sum, 0);
  Value* bits = b_.CreateBitCast(sum, ints);
  Value* even = b_.CreateICmpEQ(b_.CreateAnd(bits, llvm::ConstantInt::get(ints, 1)), llvm::ConstantInt::get(ints, 0));
  Value* adjust = b_.CreateAnd(even, b_.CreateFCmpONE(error, zero));
  Value* positive = b_.CreateFCmpOGT(sum, zero);
  Value* away = b_.CreateICmpEQ(b_.CreateFCmpOGT(error, zero), positive);
  Value* step = b_.CreateSelect(away, llvm::ConstantInt::get(ints, 1), llvm::Constant::getAllOnesValue(ints));
  Value* odd = b_.CreateBitCast(b_.CreateAdd(bits, step), doubles);
  return b_.CreateFPTrunc(b_.CreateSelect(adjust, odd, sum), a->getType());
}

Value* Numeric::float_function(Intrinsic intrinsic, const std::vector<Value*>& args) {
  Value* x = args[0];
  switch (intrinsic) {
    case Intrinsic::k_sqrt:
      return square_root(x);
    case Intrinsic::k_rsqrt:
      return b_.CreateFDiv(number(x, 1), square_root(x));
    case Intrinsic::k_floor:
      return round_to_integral(llvm::Intrinsic::floor, x);
    case Intrinsic::k_ceil:
      return round_to_integral(llvm::Intrinsic::ceil, x);
    case Intrinsic::k_trunc:
      return round_to_integral(llvm::Intrinsic::trunc, x);
    case Intrinsic::k_round:
      return round_to_integral(llvm::Intrinsic::roundeven, x);
    case Intrinsic::k_fma:
      return fused(x, args[1], args[2]);
    case Intrinsic::k_copysign:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, args[1]);
    default:
      RELAXC_UNREACHABLE(std::string(arith::intrinsic_name(intrinsic)) + " was not expanded");
  }
}

/// Calls a function of runtime-lite lane by lane.
Value* Numeric::call_scalar(RuntimeFunction function, const std::vector<Value*>& args) {
  llvm::Type* type = args[0]->getType();
  llvm::Type* scalar = type->getScalarType();
  std::vector<llvm::Type*> parameters(args.size(), scalar);
  llvm::Module* module = b_.GetInsertBlock()->getModule();
  auto callee =
      module->getOrInsertFunction(tir::runtime_name(function), llvm::FunctionType::get(scalar, parameters, false));
  auto* declared = llvm::cast<llvm::Function>(callee.getCallee());
  declared->setDoesNotThrow();
  declared->setDoesNotAccessMemory();
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (vector == nullptr) return b_.CreateCall(callee, args);
  Value* out = llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    std::vector<Value*> lanes;
    for (Value* arg : args) lanes.push_back(b_.CreateExtractElement(arg, lane));
    out = b_.CreateInsertElement(out, b_.CreateCall(callee, lanes), lane);
  }
  return out;
}

/// fmod: exact, with the sign of `a`. LLVM's frem would call libm.
Value* Numeric::float_remainder(Value* a, Value* b) {
  bool is_double = a->getType()->getScalarType()->isDoubleTy();
  return call_scalar(is_double ? RuntimeFunction::kFmod : RuntimeFunction::kFmodf, {a, b});
}

}  // namespace relaxc::codegen_llvm
