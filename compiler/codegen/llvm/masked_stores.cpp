// masked_stores.cpp: replaces masked stores of the first few lanes by plain stores of parts of the vector.
//
// The last vector of a vector loop is masked. AVX has masked stores, but AMD's processors without AVX-512's mask
// registers run them in microcode, one in 14 cycles (masked loads are ordinary instructions): a depthwise 3x3 over maps
// of 14x14 spent half of its time in them. Where masked stores take longer (masked_store_cycles of the machine model),
// a prefix of the lanes, of known or unknown length, is stored in halves, quarters and single elements instead; the
// bits of an unknown length select which.
//
// Unrolling may leave a constant mask of one lane, on any machine. X86's code generation makes a plain store of that,
// too, but of the whole register element even if the store truncates: a store of one int8 that was an int64 writes
// eight bytes, seven of them after the end of the buffer (LLVM 22).
#include <llvm/ADT/bit.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <numeric>
#include <optional>

#include "compiler/codegen/llvm/machine.h"

namespace relaxc::codegen_llvm {
namespace {

using llvm::Value;

/// The lanes that a constant mask sets; nothing if the mask is no constant.
std::optional<std::vector<unsigned>> known_lanes(const Value* mask) {
  const auto* lanes = llvm::dyn_cast<llvm::Constant>(mask);
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType());
  if (lanes == nullptr || type == nullptr) return std::nullopt;
  std::vector<unsigned> set;
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    const llvm::Constant* lane = lanes->getAggregateElement(i);
    if (lane == nullptr || (!lane->isNullValue() && !lane->isOneValue())) return std::nullopt;
    if (lane->isOneValue()) set.push_back(i);
  }
  return set;
}

bool counts_up(const Value* lanes) {
  const auto* numbers = llvm::dyn_cast<llvm::ConstantDataVector>(lanes);
  if (numbers == nullptr || !numbers->getElementType()->isIntegerTy()) return false;
  for (unsigned i = 0; i < numbers->getNumElements(); ++i)
    if (numbers->getElementAsInteger(i) != i) return false;
  return true;
}

/// The bound of a mask that is set for the lanes before it, a signed integer; null for other masks.
Value* bound_of(Value* mask) {
  const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(mask);
  if (compare == nullptr) return nullptr;
  const bool turned = compare->getPredicate() == llvm::ICmpInst::ICMP_SLT;
  if (!turned && compare->getPredicate() != llvm::ICmpInst::ICMP_SGT) return nullptr;
  Value *bound = compare->getOperand(turned ? 1 : 0), *lanes = compare->getOperand(turned ? 0 : 1);
  return counts_up(lanes) ? llvm::getSplatValue(bound) : nullptr;
}

/// Emits plain stores of parts of a masked store's vector, in front of it.
class PlainStores {
 public:
  explicit PlainStores(llvm::IntrinsicInst& store)
      : store_(store), lanes_(llvm::cast<llvm::FixedVectorType>(store.getArgOperand(0)->getType())->getNumElements()) {}

  void store_lane(unsigned lane) { put(builder(&store_), store_.getArgOperand(0), lane, 1, nullptr, lane); }

  /// Stores the first `count` lanes.
  void store_known(unsigned count) {
    unsigned done = 0;
    for (unsigned size = lanes_; size != 0; size /= 2) {
      if ((count & size) == 0) continue;
      put(builder(&store_), store_.getArgOperand(0), done, size, nullptr, done);
      done += size;
    }
  }

  /// Stores the lanes before `bound`: all at once, or the halves of the rest whose size is a bit of the bound.
  void store_before(Value* bound) {
    llvm::IRBuilder<> b = builder(&store_);
    auto number = [&](uint64_t value) { return llvm::ConstantInt::get(bound->getType(), value); };
    Value* all = b.CreateICmpSGE(bound, number(lanes_));
    Value* some = b.CreateIntrinsic(llvm::Intrinsic::smax, {bound->getType()}, {bound, number(0)});
    llvm::Instruction *whole = nullptr, *partly = nullptr;
    llvm::SplitBlockAndInsertIfThenElse(all, &store_, &whole, &partly);
    put(builder(whole), store_.getArgOperand(0), 0, lanes_, nullptr, 0);
    Value* left = store_.getArgOperand(0);
    llvm::Instruction* at = partly;
    for (unsigned size = lanes_ / 2; size != 0; size /= 2) {
      llvm::IRBuilder<> here = builder(at);
      Value* has = here.CreateICmpNE(here.CreateAnd(some, number(size)), number(0));
      Value* done = here.CreateAnd(some, number(lanes_ - 2 * size));
      Value* rest =
          size == 1 ? nullptr : here.CreateSelect(has, part(here, left, size, size), part(here, left, 0, size));
      put(builder(llvm::SplitBlockAndInsertIfThen(has, at, false)), left, 0, size, done, 0);
      left = rest;
    }
  }

 private:
  static llvm::IRBuilder<> builder(llvm::Instruction* before) { return llvm::IRBuilder<>(before); }

  static Value* part(llvm::IRBuilder<>& b, Value* vector, unsigned first, unsigned size) {
    if (size == 1) return b.CreateExtractElement(vector, first);
    std::vector<int> lanes(size);
    std::iota(lanes.begin(), lanes.end(), static_cast<int>(first));
    return b.CreateShuffleVector(vector, lanes);
  }

  /// Stores `size` lanes of `vector` from lane `first` on, to element `index`, or to element `at` if that is null.
  void put(llvm::IRBuilder<> b, Value* vector, unsigned first, unsigned size, Value* index, unsigned at) {
    Value* base = store_.getArgOperand(1);
    llvm::Type* element = vector->getType()->getScalarType();
    const uint64_t bytes = store_.getDataLayout().getTypeStoreSize(element);
    const llvm::Align whole = store_.getParamAlign(1).valueOrOne();
    Value* to =
        index != nullptr ? b.CreateGEP(element, base, index) : b.CreateConstGEP1_64(b.getInt8Ty(), base, at * bytes);
    b.CreateAlignedStore(part(b, vector, first, size), to,
                         llvm::commonAlignment(whole, index != nullptr ? bytes * size : at * bytes));
  }

  llvm::IntrinsicInst& store_;
  const unsigned lanes_;
};

// Cycles that plain stores take: a part is extracted and stored, one a cycle; a bit of a bound that is not known takes
// a test, a branch and an element of the address besides.
constexpr double kPartCycles = 1, kTestedPartCycles = 2;

/// Whether the machine's store under a mask takes longer than this many cycles. Of elements that have no such store,
/// LLVM makes single ones.
bool is_slower(const llvm::IntrinsicInst& store, double cycles, const Target& target) {
  const auto* vector = llvm::cast<llvm::FixedVectorType>(store.getArgOperand(0)->getType());
  const unsigned bits = vector->getScalarSizeInBits();
  const bool has_store = (bits == 32 || bits == 64) && llvm::isPowerOf2_32(vector->getNumElements());
  return has_store && target.masked_store_cycles > cycles;
}

bool are_first(const std::vector<unsigned>& lanes) {
  return !lanes.empty() && lanes.back() + 1 == lanes.size();
}

/// Whether plain stores took the place of the masked one.
bool narrow(llvm::IntrinsicInst& store, const Target& target) {
  Value* mask = store.getArgOperand(2);
  if (const std::optional<std::vector<unsigned>> lanes = known_lanes(mask)) {
    const auto count = static_cast<unsigned>(lanes->size());
    if (count == 1)
      PlainStores(store).store_lane(lanes->front());
    else if (are_first(*lanes) && is_slower(store, kPartCycles * llvm::popcount(count), target))
      PlainStores(store).store_known(count);
    else
      return false;
    return true;
  }
  Value* bound = bound_of(mask);
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  const bool tests_pay = bound != nullptr && is_slower(store, kTestedPartCycles * llvm::Log2_32(lanes), target);
  if (tests_pay) PlainStores(store).store_before(bound);
  return tests_pay;
}

}  // namespace

void narrow_masked_stores(llvm::Module& module, const Target& target) {
  for (llvm::Function& function : module) {
    std::vector<llvm::IntrinsicInst*> stores;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* store = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (store != nullptr && store->getIntrinsicID() == llvm::Intrinsic::masked_store) stores.push_back(store);
    }
    for (llvm::IntrinsicInst* store : stores)
      if (narrow(*store, target)) store->eraseFromParent();
  }
}

}  // namespace relaxc::codegen_llvm
