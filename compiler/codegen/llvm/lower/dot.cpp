// dot.cpp: selects instructions for sums of products of bytes, and arranges their operands.
#include "compiler/codegen/llvm/lower/dot.h"

#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsARM.h>
#include <llvm/IR/IntrinsicsWebAssembly.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/arith/simplify.h"
#include "compiler/tir/dot_word.h"

namespace relaxc::codegen_llvm {

using arith::Dot4;
using arith::Dot8;
using arith::Expr;
using arith::PairDot;
using llvm::Value;

/// The instruction of this kind that computes one sum for each lane.
llvm::Intrinsic::ID DotProducts::intrinsic_of(DotProduct kind) const {
  bool whole = kind == DotProduct::kMixed;
  if (numeric_.capabilities().neon)
    return whole ? llvm::Intrinsic::aarch64_neon_usdot : llvm::Intrinsic::aarch64_neon_sdot;
  if (numeric_.capabilities().wasm) return llvm::Intrinsic::wasm_dot;
  if (lanes_.count() == 16)
    return whole ? llvm::Intrinsic::x86_avx512_vpdpbusd_512 : llvm::Intrinsic::x86_avx512_pmaddw_d_512;
  if (lanes_.count() == 8) return whole ? llvm::Intrinsic::x86_avx512_vpdpbusd_256 : llvm::Intrinsic::x86_avx2_pmadd_wd;
  return whole ? llvm::Intrinsic::x86_avx512_vpdpbusd_128 : llvm::Intrinsic::x86_sse2_pmadd_wd;
}

std::optional<Lanes> DotProducts::sum(const arith::Binary& e) {
  std::optional<Lanes> out = of_bytes(e);
  return out ? out : of_bfloats(e);
}

std::optional<Lanes> DotProducts::of_bytes(const arith::Binary& e) {
  if (lanes_.count() == 0) return of_scalars(e);
  if (lanes_.mask() != nullptr || e.dtype != DType::i(32)) return std::nullopt;
  DotProduct kind = numeric_.capabilities().dots.of(int64_t{32} * lanes_.count());
  if (kind == DotProduct::kNone) return std::nullopt;
  std::optional<Dot4> found = arith::as_dot4(e.b);
  if (!found && kind == DotProduct::kPairs) return of_wide_pairs(e);
  if (!found) return std::nullopt;
  Value* word = word_of(*found);
  Value* b = lanes_.widened(values_.value(found->b), DType::i(32));
  Value* sum = lanes_.widened(values_.value(e.a), DType::i(32));
  if (kind == DotProduct::kSameSign) return Lanes{nullptr, 0, of_same_sign(sum, word, b)};
  Value* a = word->getType()->isVectorTy() ? word : b_.CreateVectorSplat(lanes_.count(), word);
  if (kind == DotProduct::kPairs) return Lanes{nullptr, 0, b_.CreateAdd(sum, of_pairs(a, b))};
  return Lanes{nullptr, 0, of_quads(intrinsic_of(kind), sum, a, b)};
}

/// Adds two pairs of products, of 16-bit numbers in memory that are the same for all lanes; nothing for other sums.
std::optional<Lanes> DotProducts::of_wide_pairs(const arith::Binary& e) {
  const std::optional<PairDot> found = arith::as_pair_dot(e.b);
  const arith::Load* first = found ? tir::pairs_of(*found) : nullptr;
  if (first == nullptr) return std::nullopt;
  const Lanes offset = memory_.offset_of(first->buffer, first->indices);
  if (!offset.is_uniform() || addresses_.at(first->buffer).per_lane) return std::nullopt;
  Value* at = memory_.address(first->buffer, offset);
  auto* pairs = llvm::FixedVectorType::get(b_.getInt16Ty(), lanes_.count() * 2);
  auto number = [&](uint64_t n) { return llvm::ConstantInt::get(pairs, n); };
  Value* y = b_.CreateBitCast(lanes_.widened(values_.value(found->b), DType::i(32)), pairs);
  Value* sum = lanes_.widened(values_.value(e.a), DType::i(32));
  for (const bool odd : {false, true}) {
    Value* pair = b_.CreateAlignedLoad(b_.getInt32Ty(), b_.CreateConstInBoundsGEP1_32(b_.getInt32Ty(), at, odd ? 1 : 0),
                                       llvm::Align(2));
    Value* x = b_.CreateBitCast(b_.CreateVectorSplat(lanes_.count(), pair), pairs);
    Value* w = b_.CreateAShr(odd ? y : b_.CreateShl(y, number(8)), number(8));
    sum = b_.CreateAdd(sum, b_.CreateIntrinsic(intrinsic_of(DotProduct::kPairs), {}, {x, w}));
  }
  return Lanes{nullptr, 0, sum};
}

std::optional<Lanes> DotProducts::of_scalars(const arith::Binary& e) {
  if (numeric_.capabilities().lane_sums) return of_lane_sums(e);
  std::optional<Lanes> out = of_halves(e);
  return out ? out : of_pairs_in_memory(e);
}

/// Adds four products to a scalar sum by smlad: of the even, then of the odd bytes of both words, widened to 16 bits.
/// What a word becomes is the same for all sums of a tile that read it, and LLVM computes it once.
std::optional<Lanes> DotProducts::of_halves(const arith::Binary& e) {
  if (!numeric_.capabilities().halves || e.dtype != DType::i(32)) return std::nullopt;
  const std::optional<Dot4> found = arith::as_dot4(e.b);
  const arith::Load* bytes = found ? tir::word_of(*found) : nullptr;
  if (bytes == nullptr) return std::nullopt;
  const Lanes offset = memory_.offset_of(bytes->buffer, bytes->indices);
  Value* a = b_.CreateAlignedLoad(b_.getInt32Ty(), memory_.address(bytes->buffer, offset), llvm::Align(1));
  Value *b = values_.value(found->b).scalar, *sum = values_.value(e.a).scalar;
  for (const bool odd : {false, true}) {
    auto half = [&](llvm::Intrinsic::ID widen, Value* word) {
      if (odd) word = b_.CreateIntrinsic(llvm::Intrinsic::fshr, {word->getType()}, {word, word, b_.getInt32(8)});
      return b_.CreateIntrinsic(widen, {}, {word});
    };
    Value *x = half(llvm::Intrinsic::arm_uxtb16, a), *w = half(llvm::Intrinsic::arm_sxtb16, b);
    sum = b_.CreateIntrinsic(llvm::Intrinsic::arm_smlad, {}, {x, w, sum});
  }
  return Lanes{sum, 0, nullptr};
}

/// The same for 16-bit numbers in memory, by words whose bytes are in the order of such pairs. One load reads two words
/// if they begin at a multiple of four bytes.
std::optional<Lanes> DotProducts::of_pairs_in_memory(const arith::Binary& e) {
  if (!numeric_.capabilities().halves || e.dtype != DType::i(32)) return std::nullopt;
  const std::optional<PairDot> found = arith::as_pair_dot(e.b);
  const arith::Load* first = found ? tir::pairs_of(*found) : nullptr;
  if (first == nullptr) return std::nullopt;
  const Expr place = tir::element_offset(first->indices[0].context(), *first->buffer, first->indices);
  const llvm::Align align(arith::divisor(place) % 2 == 0 ? 4 : 2);
  Value* at = memory_.address(first->buffer, memory_.offset_of(first->buffer, first->indices));
  Value *word = values_.value(found->b).scalar, *sum = values_.value(e.a).scalar;
  // LLVM keeps a volatile load of 64 bits one load of two registers (ldrd), and does not move it out of a loop over
  // columns, where it would be spilled.
  Value* both = b_.CreateAlignedLoad(b_.getInt64Ty(), at, align, align.value() >= 4);
  for (const bool second : {false, true}) {
    Value* x = b_.CreateTrunc(second ? b_.CreateLShr(both, 32) : both, b_.getInt32Ty());
    Value* w =
        second ? b_.CreateIntrinsic(llvm::Intrinsic::fshr, {word->getType()}, {word, word, b_.getInt32(8)}) : word;
    w = b_.CreateIntrinsic(llvm::Intrinsic::arm_sxtb16, {}, {w});
    sum = b_.CreateIntrinsic(llvm::Intrinsic::arm_smlad, {}, {x, w, sum});
  }
  return Lanes{sum, 0, nullptr};
}

namespace {

/// Whether `next` loads the element that is `step` after that of `first`.
bool follows(const arith::Load& next, const arith::Load& first, int64_t step) {
  if (next.buffer != first.buffer || first.indices.empty()) return false;
  const auto place = [](const arith::Load& load) {
    return tir::element_offset(load.indices[0].context(), *load.buffer, load.indices);
  };
  return arith::prove_equal(place(next), place(first) + step);
}

}  // namespace

std::optional<DotProducts::Eight> DotProducts::eight_of(Expr e) {
  const std::optional<Dot8> dot = arith::as_dot8(e);
  const arith::Load* bytes = dot ? tir::octet_of(*dot) : nullptr;
  const auto* word = dot ? dot->b.as<arith::Load>() : nullptr;
  if (bytes == nullptr || word == nullptr) return std::nullopt;
  return Eight{bytes, word, dot->signed_b};
}

/// Adds the products of one or two groups of eight bytes to a scalar sum by vmladava. It takes two at once if they are
/// adjacent in both operands and have one signedness.
std::optional<Lanes> DotProducts::of_lane_sums(const arith::Binary& e) {
  if (e.dtype != DType::i(32)) return std::nullopt;
  const auto* two = e.b.as<arith::Add>();
  const std::optional<Eight> high = two != nullptr ? eight_of(two->b) : std::nullopt;
  const std::optional<Eight> low = eight_of(high ? two->a : e.b);
  if (!low) return std::nullopt;
  Value* sum = values_.value(e.a).scalar;
  const bool one_sign = low->bytes->dtype.is_int() == low->signed_word;
  if (high && one_sign && high->signed_word == low->signed_word && follows(*high->bytes, *low->bytes, 8) &&
      follows(*high->word, *low->word, 1))
    return Lanes{lane_sum(sum, *low, 16), 0, nullptr};
  sum = lane_sum(sum, *low, 8);
  return Lanes{high ? lane_sum(sum, *high, 8) : sum, 0, nullptr};
}

/// Adds `count` products to `sum`. Groups of eight bytes are widened to 16 bits as they are loaded.
Value* DotProducts::lane_sum(Value* sum, const Eight& first, unsigned count) {
  auto* narrow = llvm::FixedVectorType::get(b_.getInt8Ty(), count);
  auto* lanes = count == 16 ? narrow : llvm::FixedVectorType::get(b_.getInt16Ty(), count);
  auto loaded = [&](const arith::Load& load, bool is_signed, unsigned alignment) {
    const Lanes offset = memory_.offset_of(load.buffer, load.indices);
    Value* vector = b_.CreateAlignedLoad(narrow, memory_.address(load.buffer, offset), llvm::Align(alignment));
    return is_signed ? b_.CreateSExt(vector, lanes) : b_.CreateZExt(vector, lanes);
  };
  Value *a = loaded(*first.bytes, first.bytes->dtype.is_int(), 1), *b = loaded(*first.word, first.signed_word, 8);
  Value *no = b_.getInt32(0), *is_unsigned = b_.getInt32(count == 16 && !first.signed_word ? 1 : 0);
  return b_.CreateIntrinsic(llvm::Intrinsic::arm_mve_vmldava, {lanes}, {is_unsigned, no, no, sum, a, b});
}

/// Returns the unsigned bytes: one word for all lanes if they are adjacent, else a vector of words that is composed of
/// a vector for each byte. Rows of a tile that share bytes share those vectors.
Value* DotProducts::word_of(const Dot4& dot) {
  if (const arith::Load* bytes = tir::word_of(dot)) {
    Lanes offset = memory_.offset_of(bytes->buffer, bytes->indices);
    if (offset.is_uniform() && !addresses_.at(bytes->buffer).per_lane)
      return b_.CreateAlignedLoad(b_.getInt32Ty(), memory_.address(bytes->buffer, offset), llvm::Align(1));
  }
  Value* word = nullptr;
  for (size_t i = 0; i < 4 && dot.a[i]; ++i) {
    Value* byte = lanes_.widened(values_.value(dot.a[i]), DType::i(32));
    if (i > 0) byte = b_.CreateShl(byte, 8 * i);
    word = word == nullptr ? byte : b_.CreateOr(word, byte);
  }
  return word;
}

/// Calls an instruction on words as four bytes each, which is how LLVM types it.
Value* DotProducts::of_quads(llvm::Intrinsic::ID intrinsic, Value* sum, Value* a, Value* b) {
  auto* quads = llvm::FixedVectorType::get(b_.getInt8Ty(), lanes_.count() * 4);
  std::vector<llvm::Type*> types;
  if (numeric_.capabilities().neon) types = {sum->getType(), quads};
  return b_.CreateIntrinsic(intrinsic, types, {sum, b_.CreateBitCast(a, quads), b_.CreateBitCast(b, quads)});
}

/// sdot takes `a` as signed bytes, 128 less; so 128 times the sum of b is added, as 127 times and once since 128 is no
/// signed byte. That addend is the same for every row of a tile, and LLVM computes it once.
Value* DotProducts::of_same_sign(Value* sum, Value* word, Value* b) {
  auto splat = [&](uint32_t bytes) { return b_.CreateVectorSplat(lanes_.count(), b_.getInt32(bytes)); };
  llvm::Intrinsic::ID sdot = intrinsic_of(DotProduct::kSameSign);
  Value* zero = llvm::Constant::getNullValue(sum->getType());
  Value* rest = of_quads(sdot, of_quads(sdot, zero, splat(0x7F7F7F7F), b), splat(0x01010101), b);
  Value* a = b_.CreateXor(word, llvm::ConstantInt::get(word->getType(), 0x80808080));
  if (!a->getType()->isVectorTy()) a = b_.CreateVectorSplat(lanes_.count(), a);
  return b_.CreateAdd(of_quads(sdot, sum, a, b), rest);
}

/// Returns the products of the even bytes plus those of the odd ones, each widened to 16 bits.
Value* DotProducts::of_pairs(Value* a, Value* b) {
  auto* pairs = llvm::FixedVectorType::get(b_.getInt16Ty(), lanes_.count() * 2);
  auto number = [&](uint64_t n) { return llvm::ConstantInt::get(pairs, n); };
  llvm::Intrinsic::ID multiply_add = intrinsic_of(DotProduct::kPairs);
  Value *x = b_.CreateBitCast(a, pairs), *y = b_.CreateBitCast(b, pairs);
  Value* even = b_.CreateIntrinsic(
      multiply_add, {}, {b_.CreateAnd(x, number(255)), b_.CreateAShr(b_.CreateShl(y, number(8)), number(8))});
  Value* odd = b_.CreateIntrinsic(multiply_add, {}, {b_.CreateLShr(x, number(8)), b_.CreateAShr(y, number(8))});
  return b_.CreateAdd(even, odd);
}

}  // namespace relaxc::codegen_llvm
