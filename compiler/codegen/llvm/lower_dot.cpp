// lower_dot.cpp: sums of four products of bytes by the instructions that exist for them.
//
// vpdpbusd and usdot add four products to a 32-bit sum without rounding or saturating. ARM's older sdot takes signed
// bytes alone. Without either, bytes are widened to 16 bits and pmaddwd adds pairs of their products in 32 bits;
// pmaddubsw would do it in one step less, but it saturates sums of two products at 16 bits silently. What fits none is
// computed as it is written.
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/arith/simplify.h"
#include "compiler/codegen/llvm/lower_function.h"

namespace relaxc::codegen_llvm {

using arith::Dot4;
using arith::Expr;
using llvm::Value;

namespace {

const arith::Load& byte_of(const Dot4& dot, size_t i) {
  return *dot.a[i].as<arith::Cast>()->value.as<arith::Load>();
}

/// The four bytes lie side by side in one buffer.
bool is_word(const Dot4& dot) {
  for (Expr e : dot.a)
    if (!e || e.as<arith::Cast>()->value.as<arith::Load>() == nullptr) return false;
  const arith::Load& first = byte_of(dot, 0);
  if (first.indices.empty() || !first.buffer->strides.empty()) return false;
  for (size_t i = 1; i < 4; ++i) {
    const arith::Load& next = byte_of(dot, i);
    if (next.buffer != first.buffer) return false;
    for (size_t d = 0; d + 1 < first.indices.size(); ++d)
      if (!(next.indices[d] == first.indices[d])) return false;
    if (!arith::prove_equal(next.indices.back(), first.indices.back() + static_cast<int64_t>(i))) return false;
  }
  return true;
}

}  // namespace

/// What does `lanes_` sums at once in this way.
llvm::Intrinsic::ID FunctionLowering::dot_intrinsic(DotProduct kind) const {
  bool whole = kind == DotProduct::kMixed;
  if (numeric_.abilities().neon)
    return whole ? llvm::Intrinsic::aarch64_neon_usdot : llvm::Intrinsic::aarch64_neon_sdot;
  if (lanes_ == 16) return whole ? llvm::Intrinsic::x86_avx512_vpdpbusd_512 : llvm::Intrinsic::x86_avx512_pmaddw_d_512;
  if (lanes_ == 8) return whole ? llvm::Intrinsic::x86_avx512_vpdpbusd_256 : llvm::Intrinsic::x86_avx2_pmadd_wd;
  return whole ? llvm::Intrinsic::x86_avx512_vpdpbusd_128 : llvm::Intrinsic::x86_sse2_pmadd_wd;
}

std::optional<Lanes> FunctionLowering::dot(const arith::Binary& e) {
  if (lanes_ == 0 || mask_ != nullptr || e.dtype != DType::i(32)) return std::nullopt;
  DotProduct kind = numeric_.abilities().dots.of(int64_t{32} * lanes_);
  if (kind == DotProduct::kNone) return std::nullopt;
  std::optional<Dot4> found = arith::as_dot4(e.b);
  if (!found) return std::nullopt;
  Value* word = word_of(*found);
  Value* b = widened(value(found->b), DType::i(32));
  Value* sum = widened(value(e.a), DType::i(32));
  if (kind == DotProduct::kSameSign) return Lanes{nullptr, 0, dot_of_same_sign(sum, word, b)};
  Value* a = word->getType()->isVectorTy() ? word : b_.CreateVectorSplat(lanes_, word);
  if (kind == DotProduct::kPairs) return Lanes{nullptr, 0, b_.CreateAdd(sum, dot_of_pairs(a, b))};
  return Lanes{nullptr, 0, dot_of_quads(dot_intrinsic(kind), sum, a, b)};
}

/// The unsigned bytes: one word for all lanes where they lie side by side, else a vector of words that are put together
/// from a vector for each byte. Rows of a tile that share bytes share those vectors.
Value* FunctionLowering::word_of(const Dot4& dot) {
  if (is_word(dot)) {
    const arith::Load& bytes = byte_of(dot, 0);
    Lanes offset = offset_of(bytes.buffer, bytes.indices);
    if (offset.is_uniform() && !place(bytes.buffer).per_lane)
      return b_.CreateAlignedLoad(b_.getInt32Ty(), address(bytes.buffer, offset), llvm::Align(1));
  }
  Value* word = nullptr;
  for (size_t i = 0; i < 4 && dot.a[i]; ++i) {
    Value* byte = widened(value(dot.a[i]), DType::i(32));
    if (i > 0) byte = b_.CreateShl(byte, 8 * i);
    word = word == nullptr ? byte : b_.CreateOr(word, byte);
  }
  return word;
}

/// Words as four bytes each, which is how LLVM types these instructions.
Value* FunctionLowering::dot_of_quads(llvm::Intrinsic::ID intrinsic, Value* sum, Value* a, Value* b) {
  auto* quads = llvm::FixedVectorType::get(b_.getInt8Ty(), lanes_ * 4);
  std::vector<llvm::Type*> types;
  if (numeric_.abilities().neon) types = {sum->getType(), quads};
  return b_.CreateIntrinsic(intrinsic, types, {sum, b_.CreateBitCast(a, quads), b_.CreateBitCast(b, quads)});
}

/// a is 128 more than a signed byte, so its product is that of the signed byte and 128 times the sum of b, which is
/// 127 times it and once. The latter is the same for every row of a tile, and LLVM computes it once.
Value* FunctionLowering::dot_of_same_sign(Value* sum, Value* word, Value* b) {
  auto splat = [&](uint32_t bytes) { return b_.CreateVectorSplat(lanes_, b_.getInt32(bytes)); };
  llvm::Intrinsic::ID sdot = dot_intrinsic(DotProduct::kSameSign);
  Value* zero = llvm::Constant::getNullValue(sum->getType());
  Value* rest = dot_of_quads(sdot, dot_of_quads(sdot, zero, splat(0x7F7F7F7F), b), splat(0x01010101), b);
  Value* a = b_.CreateXor(word, llvm::ConstantInt::get(word->getType(), 0x80808080));
  if (!a->getType()->isVectorTy()) a = b_.CreateVectorSplat(lanes_, a);
  return b_.CreateAdd(dot_of_quads(sdot, sum, a, b), rest);
}

/// Even and odd bytes apart, each in 16 bits.
Value* FunctionLowering::dot_of_pairs(Value* a, Value* b) {
  auto* pairs = llvm::FixedVectorType::get(b_.getInt16Ty(), lanes_ * 2);
  auto number = [&](uint64_t n) { return llvm::ConstantInt::get(pairs, n); };
  llvm::Intrinsic::ID multiply_add = dot_intrinsic(DotProduct::kPairs);
  Value *x = b_.CreateBitCast(a, pairs), *y = b_.CreateBitCast(b, pairs);
  Value* even = b_.CreateIntrinsic(
      multiply_add, {}, {b_.CreateAnd(x, number(255)), b_.CreateAShr(b_.CreateShl(y, number(8)), number(8))});
  Value* odd = b_.CreateIntrinsic(multiply_add, {}, {b_.CreateLShr(x, number(8)), b_.CreateAShr(y, number(8))});
  return b_.CreateAdd(even, odd);
}

}  // namespace relaxc::codegen_llvm
