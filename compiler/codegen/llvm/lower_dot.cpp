// lower_dot.cpp: sums of four products of bytes by the instructions that exist for them.
//
// vpdpbusd adds four products to a 32-bit sum without rounding or saturating. Without it, bytes are widened to 16 bits
// and pmaddwd adds pairs of their products in 32 bits; pmaddubsw would do it in one step less, but it saturates sums of
// two products at 16 bits silently. What fits neither is computed as it is written.
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
    if (e.as<arith::Cast>()->value.as<arith::Load>() == nullptr) return false;
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

/// The intrinsics that do `lanes_` sums at once; both 0: there are none.
FunctionLowering::DotIntrinsics FunctionLowering::dot_intrinsics() const {
  const Abilities& can = numeric_.abilities();
  DotIntrinsics found;
  if (lanes_ == 16 && can.dot512) found.whole = llvm::Intrinsic::x86_avx512_vpdpbusd_512;
  if (lanes_ == 8 && can.dot256) found.whole = llvm::Intrinsic::x86_avx512_vpdpbusd_256;
  if (lanes_ == 4 && can.dot256) found.whole = llvm::Intrinsic::x86_avx512_vpdpbusd_128;
  if (lanes_ == 16 && can.pairs512) found.pairs = llvm::Intrinsic::x86_avx512_pmaddw_d_512;
  if (lanes_ == 8 && can.pairs256) found.pairs = llvm::Intrinsic::x86_avx2_pmadd_wd;
  if (lanes_ == 4 && can.pairs128) found.pairs = llvm::Intrinsic::x86_sse2_pmadd_wd;
  return found;
}

std::optional<Lanes> FunctionLowering::dot(const arith::Binary& e) {
  if (lanes_ == 0 || mask_ != nullptr || e.dtype != DType::i(32)) return std::nullopt;
  DotIntrinsics can = dot_intrinsics();
  if (can.whole == 0 && can.pairs == 0) return std::nullopt;
  std::optional<Dot4> found = arith::as_dot4(e.b);
  if (!found || !is_word(*found)) return std::nullopt;
  const arith::Load& bytes = byte_of(*found, 0);
  Lanes offset = offset_of(bytes.buffer, bytes.indices);
  if (!offset.is_uniform() || place(bytes.buffer).per_lane) return std::nullopt;
  Value* word = b_.CreateAlignedLoad(b_.getInt32Ty(), address(bytes.buffer, offset), llvm::Align(1));
  Value* a = b_.CreateVectorSplat(lanes_, word);
  Value* b = widened(value(found->b), DType::i(32));
  Value* sum = widened(value(e.a), DType::i(32));
  if (can.whole == 0) return Lanes{nullptr, 0, b_.CreateAdd(sum, dot_of_pairs(can.pairs, a, b))};
  auto* quads = llvm::FixedVectorType::get(b_.getInt8Ty(), lanes_ * 4);
  Value* out = b_.CreateIntrinsic(can.whole, {}, {sum, b_.CreateBitCast(a, quads), b_.CreateBitCast(b, quads)});
  return Lanes{nullptr, 0, out};
}

/// Even and odd bytes apart, each in 16 bits.
Value* FunctionLowering::dot_of_pairs(llvm::Intrinsic::ID multiply_add, Value* a, Value* b) {
  auto* pairs = llvm::FixedVectorType::get(b_.getInt16Ty(), lanes_ * 2);
  auto number = [&](uint64_t n) { return llvm::ConstantInt::get(pairs, n); };
  Value *x = b_.CreateBitCast(a, pairs), *y = b_.CreateBitCast(b, pairs);
  Value* even = b_.CreateIntrinsic(
      multiply_add, {}, {b_.CreateAnd(x, number(255)), b_.CreateAShr(b_.CreateShl(y, number(8)), number(8))});
  Value* odd = b_.CreateIntrinsic(multiply_add, {}, {b_.CreateLShr(x, number(8)), b_.CreateAShr(y, number(8))});
  return b_.CreateAdd(even, odd);
}

}  // namespace relaxc::codegen_llvm
