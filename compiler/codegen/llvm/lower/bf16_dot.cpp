// bf16_dot.cpp: lowers sums of two products of bfloat16 to dot product instructions.
//
// vdpbf16ps adds the product of the upper halves and then that of the lower ones, rounding to nearest each time. ARM's
// bfdot adds the two products to each other and their sum to the lane, rounding to odd. Both treat subnormal operands
// as zero and flush subnormal results (docs/numerics.md). Other sums are lowered as they are written.
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/arith/simplify.h"
#include "compiler/codegen/llvm/lower/dot.h"

namespace relaxc::codegen_llvm {

using arith::BFloatDot;
using llvm::Value;

namespace {

/// Returns the load of the first factor if the two are adjacent elements of one buffer, else null.
const arith::Load* loaded_pair(const BFloatDot& dot) {
  const auto load = [&](size_t i) { return dot.a[i].as<arith::Cast>()->value.as<arith::Load>(); };
  const arith::Load *first = load(0), *second = load(1);
  if (first == nullptr || second == nullptr || first->buffer != second->buffer) return nullptr;
  if (first->indices.empty() || !first->buffer->strides.empty()) return nullptr;
  for (size_t d = 0; d + 1 < first->indices.size(); ++d)
    if (!(first->indices[d] == second->indices[d])) return nullptr;
  return arith::prove_equal(second->indices.back(), first->indices.back() + 1) ? first : nullptr;
}

llvm::Intrinsic::ID dot_of_bfloats(bool neon, uint32_t lanes) {
  if (neon) return llvm::Intrinsic::aarch64_neon_bfdot;
  return lanes == 16  ? llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512
         : lanes == 8 ? llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256
                      : llvm::Intrinsic::x86_avx512bf16_dpbf16ps_128;
}

}  // namespace

std::optional<Lanes> DotProducts::of_bfloats(const arith::Binary& e) {
  if (lanes_.count() == 0 || lanes_.mask() != nullptr || e.dtype != DType::f(32)) return std::nullopt;
  if (!numeric_.capabilities().bfloat_dots.of(int64_t{32} * lanes_.count())) return std::nullopt;
  const std::optional<BFloatDot> found = arith::as_bfloat_dot(e.b);
  const arith::Load* pair = found ? loaded_pair(*found) : nullptr;
  if (pair == nullptr) return std::nullopt;
  const Lanes offset = memory_.offset_of(pair->buffer, pair->indices);
  if (!offset.is_uniform() || addresses_.at(pair->buffer).per_lane) return std::nullopt;
  auto* pairs = llvm::FixedVectorType::get(b_.getBFloatTy(), lanes_.count() * 2);
  Value* word = b_.CreateAlignedLoad(b_.getInt32Ty(), memory_.address(pair->buffer, offset), llvm::Align(2));
  Value* a = b_.CreateBitCast(b_.CreateVectorSplat(lanes_.count(), word), pairs);
  Value* b = b_.CreateBitCast(lanes_.widened(values_.value(found->b), DType::i(32)), pairs);
  Value* sum = lanes_.widened(values_.value(e.a), DType::f(32));
  const bool neon = numeric_.capabilities().neon;
  std::vector<llvm::Type*> types;
  if (neon) types = {sum->getType(), pairs};
  return Lanes{nullptr, 0, b_.CreateIntrinsic(dot_of_bfloats(neon, lanes_.count()), types, {sum, a, b})};
}

}  // namespace relaxc::codegen_llvm
