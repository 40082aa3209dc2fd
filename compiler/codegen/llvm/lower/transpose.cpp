// transpose.cpp: see transpose.h.
//
// Shuffles of vectors of more than 128 bits are cheap if they move whole parts of 128 bits, or do the same inside of
// each part. So squares of parts are exchanged first, the largest ones at the beginning. Then, inside of the parts,
// each row is interleaved with the row half a part further on; log2(elements of a part) rounds of that are a
// transposition (unpcklps and its like; zip1 and zip2).
#include "compiler/codegen/llvm/lower/transpose.h"

namespace relaxc::codegen_llvm {
namespace {

using llvm::Value;

constexpr uint64_t kPartBits = 128;

class Transposition {
 public:
  Transposition(llvm::IRBuilder<>& builder, std::vector<Value*> rows)
      : b_(builder), rows_(std::move(rows)), count_(rows_.size()) {
    part_ = std::min<size_t>(count_, kPartBits / rows_[0]->getType()->getScalarSizeInBits());
  }

  std::vector<Value*> run() {
    for (size_t distance = count_ / 2; distance >= part_; distance /= 2) swap_squares(distance);
    for (size_t size = 1; size < part_; size *= 2) interleave();
    return std::move(rows_);
  }

 private:
  /// A vector whose element k is `element(k)` of both vectors, where `b` is numbered after `a`.
  template <typename F>
  Value* shuffled(Value* a, Value* b, F element) {
    std::vector<int> mask;
    for (size_t k = 0; k < count_; ++k) mask.push_back(static_cast<int>(element(k)));
    return b_.CreateShuffleVector(a, b, mask);
  }

  /// In each square of 2 * distance, the upper right and the lower left quarter change places.
  void swap_squares(size_t distance) {
    for (size_t i = 0; i < count_; ++i) {
      if ((i & distance) != 0) continue;
      Value *a = rows_[i], *b = rows_[i + distance];
      rows_[i] = shuffled(a, b, [&](size_t k) { return (k & distance) != 0 ? count_ + k - distance : k; });
      rows_[i + distance] = shuffled(a, b, [&](size_t k) { return (k & distance) != 0 ? count_ + k : k + distance; });
    }
  }

  void interleave() {
    std::vector<Value*> next(count_);
    const size_t half = part_ / 2;
    for (size_t i = 0; i < count_; ++i) {
      const size_t group = i / part_ * part_, row = i % part_;
      Value *a = rows_[group + row / 2], *b = rows_[group + row / 2 + half];
      next[i] = shuffled(a, b, [&](size_t k) {
        const size_t from = k / part_ * part_ + k % part_ / 2 + (row % 2) * half;
        return k % 2 == 0 ? from : count_ + from;
      });
    }
    rows_ = std::move(next);
  }

  llvm::IRBuilder<>& b_;
  std::vector<Value*> rows_;
  size_t count_, part_;
};

}  // namespace

std::vector<Value*> transposed(llvm::IRBuilder<>& builder, std::vector<Value*> rows) {
  return Transposition(builder, std::move(rows)).run();
}

}  // namespace relaxc::codegen_llvm
