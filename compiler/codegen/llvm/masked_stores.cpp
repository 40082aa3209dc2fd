// masked_stores.cpp: masked stores of a single known lane become plain stores of its element.
//
// The last lanes of a vector loop are masked, and unrolling may leave a mask of one lane that is known. X86's code
// generation makes a plain store of it, too, but of the whole register element where the store was to truncate: a
// store of one int8 that was an int64 writes eight bytes, seven of them behind the buffer (LLVM 22).
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>

#include "compiler/codegen/llvm/machine.h"

namespace relaxc::codegen_llvm {
namespace {

/// The lane that a mask of constants leaves, if it is one.
std::optional<unsigned> only_lane(const llvm::Value* mask) {
  const auto* lanes = llvm::dyn_cast<llvm::Constant>(mask);
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType());
  if (lanes == nullptr || type == nullptr) return std::nullopt;
  std::optional<unsigned> only;
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    const llvm::Constant* lane = lanes->getAggregateElement(i);
    if (lane == nullptr || (!lane->isNullValue() && (!lane->isOneValue() || only))) return std::nullopt;
    if (lane->isOneValue()) only = i;
  }
  return only;
}

void store_element(llvm::IntrinsicInst& store, unsigned lane) {
  llvm::IRBuilder<> builder(&store);
  llvm::Value *element = builder.CreateExtractElement(store.getArgOperand(0), lane), *base = store.getArgOperand(1);
  uint64_t offset = lane * store.getDataLayout().getTypeStoreSize(element->getType());
  llvm::Align align = llvm::commonAlignment(store.getParamAlign(1).valueOrOne(), offset);
  builder.CreateAlignedStore(element, builder.CreateConstGEP1_64(builder.getInt8Ty(), base, offset), align);
  store.eraseFromParent();
}

}  // namespace

void narrow_masked_stores(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* store = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (store == nullptr || store->getIntrinsicID() != llvm::Intrinsic::masked_store) continue;
      if (std::optional<unsigned> lane = only_lane(store->getArgOperand(2))) store_element(*store, *lane);
    }
}

}  // namespace relaxc::codegen_llvm
