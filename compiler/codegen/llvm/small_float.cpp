// small_float.cpp: floats narrower than 32 bits, as stored bits and as the float that carries their value.
//
// One description of a format serves float16, bfloat16, float4 and four of the five float8 kinds; the fifth is an
// exponent alone. Decoding shifts the magnitude to where float has its own and multiplies by a power of two, which is
// exact and makes subnormals right for free. Encoding rounds to nearest even with integer arithmetic for normal
// results, and by adding a magic number, whose last place is the smallest subnormal, for the others.
#include <bit>
#include <cmath>

#include "compiler/codegen/llvm/numeric.h"

namespace relaxc::codegen_llvm {
namespace {

using llvm::Value;

struct Format {
  unsigned bits, mantissa;
  int bias;
  uint32_t largest;  ///< magnitude bits of the largest finite value
  uint32_t beyond;   ///< magnitude bits that overflow gives: infinity, or NaN where there is none
  uint32_t nan;      ///< all bits of a NaN
  bool ieee;         ///< magnitudes from `beyond` on are infinity and NaN, as in float
  bool unsigned_zero;
};

Format format_of(DType dtype) {
  switch (dtype.code) {
    case TypeCode::kFloat:
      return {16, 10, 15, 0x7bff, 0x7c00, 0x7e00, true, false};
    case TypeCode::kBFloat:
      return {16, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, true, false};
    case TypeCode::kFloat8E4M3FN:
      return {8, 3, 7, 0x7e, 0x7f, 0x7f, false, false};
    case TypeCode::kFloat8E4M3FNUZ:
      return {8, 3, 8, 0x7f, 0x80, 0x80, false, true};
    case TypeCode::kFloat8E5M2:
      return {8, 2, 15, 0x7b, 0x7c, 0x7e, true, false};
    case TypeCode::kFloat8E5M2FNUZ:
      return {8, 2, 16, 0x7f, 0x80, 0x80, false, true};
    case TypeCode::kFloat4E2M1FN:
      return {4, 1, 1, 0x7, 0x7, 0x8, false, false};  // NaN becomes -0
    default:
      RELAXC_UNREACHABLE("not a narrow float");
  }
}

}  // namespace

Value* Numeric::decode(DType dtype, Value* stored) {
  llvm::Type* floats = shaped(b_.getFloatTy(), stored);
  if (dtype == DType::f(16) && capabilities_.half)
    return b_.CreateFPExt(b_.CreateBitCast(stored, shaped(b_.getHalfTy(), stored)), floats);
  if (dtype.code == TypeCode::kFloat8E8M0FNU) return decode_power(stored);
  Format f = format_of(dtype);
  llvm::Type* ints = shaped(b_.getInt32Ty(), stored);
  auto imm = [&](uint64_t value) { return llvm::ConstantInt::get(ints, value); };
  Value* bits = b_.CreateZExt(stored, ints);
  if (dtype == DType::bf16()) return b_.CreateBitCast(b_.CreateShl(bits, 16), floats);

  uint32_t sign_bit = 1u << (f.bits - 1);
  Value* magnitude = b_.CreateAnd(bits, imm(sign_bit - 1));
  Value* sign = b_.CreateShl(b_.CreateAnd(bits, imm(sign_bit)), imm(32 - f.bits));
  Value* shifted = b_.CreateShl(magnitude, imm(23 - f.mantissa));
  Value* scaled =
      b_.CreateFMul(b_.CreateBitCast(shifted, floats), llvm::ConstantFP::get(floats, std::ldexp(1.0, 127 - f.bias)));
  Value* out = b_.CreateOr(b_.CreateBitCast(scaled, ints), sign);
  if (f.ieee) {
    Value* special = b_.CreateOr(b_.CreateOr(shifted, imm(0x7f800000)), sign);
    out = b_.CreateSelect(b_.CreateICmpUGE(magnitude, imm(f.beyond)), special, out);
  } else {
    Value* which = f.unsigned_zero ? bits : magnitude;
    out = b_.CreateSelect(b_.CreateICmpEQ(which, imm(f.nan)), imm(0x7fc00000), out);
  }
  return b_.CreateBitCast(out, floats);
}

Value* Numeric::encode(DType dtype, Value* value) {
  if (dtype.code == TypeCode::kFloat8E8M0FNU) return encode_power(value);
  Format f = format_of(dtype);
  llvm::Type* floats = value->getType();
  llvm::Type* ints = shaped(b_.getInt32Ty(), value);
  if (dtype == DType::f(16) && capabilities_.half)
    return b_.CreateBitCast(b_.CreateFPTrunc(value, shaped(b_.getHalfTy(), value)), shaped(b_.getInt16Ty(), value));
  auto imm = [&](uint64_t v) { return llvm::ConstantInt::get(ints, v & 0xffffffffu); };
  Value* bits = b_.CreateBitCast(value, ints);
  Value* magnitude = b_.CreateAnd(bits, imm(0x7fffffff));
  unsigned drop = 23 - f.mantissa;

  Value* odd = b_.CreateAnd(b_.CreateLShr(magnitude, imm(drop)), imm(1));
  Value* rounded = b_.CreateAdd(b_.CreateAdd(magnitude, odd), imm((1u << (drop - 1)) - 1));
  uint32_t rebias = static_cast<uint32_t>(127 - f.bias) << f.mantissa;
  Value* out = b_.CreateSub(b_.CreateLShr(rounded, imm(drop)), imm(rebias));

  if (f.bias != 127) {
    int least = 1 - f.bias;  // exponent of the smallest normal value
    float magic = static_cast<float>(std::ldexp(1.0, least - static_cast<int>(f.mantissa) + 23));
    Value* sum = b_.CreateFAdd(b_.CreateBitCast(magnitude, floats), llvm::ConstantFP::get(floats, magic));
    Value* subnormal = b_.CreateSub(b_.CreateBitCast(sum, ints), imm(std::bit_cast<uint32_t>(magic)));
    uint32_t smallest = std::bit_cast<uint32_t>(static_cast<float>(std::ldexp(1.0, least)));
    out = b_.CreateSelect(b_.CreateICmpULT(magnitude, imm(smallest)), subnormal, out);
  }

  out = b_.CreateSelect(b_.CreateICmpSGT(out, imm(f.largest)), imm(f.beyond), out);
  out = b_.CreateSelect(b_.CreateICmpUGE(magnitude, imm(0x7f800000)), imm(f.beyond), out);
  out = b_.CreateSelect(b_.CreateICmpUGT(magnitude, imm(0x7f800000)), imm(f.nan), out);
  Value* sign = b_.CreateAnd(b_.CreateLShr(bits, imm(32 - f.bits)), imm(1u << (f.bits - 1)));
  if (f.unsigned_zero) sign = b_.CreateSelect(b_.CreateICmpEQ(out, imm(0)), imm(0), sign);
  out = b_.CreateOr(out, sign);
  return b_.CreateTrunc(out, shaped(memory_type(dtype), value));
}

/// Decodes a power of two in 8 bits: 255 is NaN, and 0 is the power of two below the smallest normal float.
Value* Numeric::decode_power(Value* stored) {
  llvm::Type* ints = shaped(b_.getInt32Ty(), stored);
  auto imm = [&](uint64_t value) { return llvm::ConstantInt::get(ints, value); };
  Value* code = b_.CreateZExt(stored, ints);
  Value* out = b_.CreateShl(code, imm(23));
  out = b_.CreateSelect(b_.CreateICmpEQ(code, imm(0)), imm(0x400000), out);
  out = b_.CreateSelect(b_.CreateICmpEQ(code, imm(0xff)), imm(0x7fc00000), out);
  return b_.CreateBitCast(out, shaped(b_.getFloatTy(), stored));
}

/// Encodes a power of two. Adding half a unit rounds up into the exponent; what is not positive or too large is NaN.
Value* Numeric::encode_power(Value* value) {
  llvm::Type* ints = shaped(b_.getInt32Ty(), value);
  auto imm = [&](uint64_t v) { return llvm::ConstantInt::get(ints, v); };
  Value* bits = b_.CreateBitCast(value, ints);
  Value* normal = b_.CreateLShr(b_.CreateAdd(bits, imm(0x400000)), imm(23));
  Value* least = b_.CreateZExt(b_.CreateICmpUGE(bits, imm(0x600000)), ints);
  Value* out = b_.CreateSelect(b_.CreateICmpULT(bits, imm(0x800000)), least, normal);
  Value* too_large = b_.CreateICmpUGE(bits, imm(0x7f400000));
  Value* none = b_.CreateOr(b_.CreateICmpSLE(bits, imm(0)), too_large);
  return b_.CreateTrunc(b_.CreateSelect(none, imm(0xff), out), shaped(b_.getInt8Ty(), value));
}

/// Rounds `value` to `dtype`. A double goes through float, as in the interpreter and in C.
Value* Numeric::round_to(DType dtype, Value* value) {
  if (dtype == DType::f(64)) return value;
  bool is_double = value->getType()->getScalarType()->isDoubleTy();
  if (is_double) value = b_.CreateFPTrunc(value, shaped(b_.getFloatTy(), value));
  return dtype == DType::f(32) ? value : decode(dtype, encode(dtype, value));
}

}  // namespace relaxc::codegen_llvm
