// checks.cpp: operations with a flag, and the blocks by which a function leaves where the flag is set.
#include "compiler/codegen/llvm/lower/checks.h"

#include <llvm/IR/MDBuilder.h>

#include "compiler/codegen/llvm/lower/failures.h"
#include "compiler/codegen/llvm/lower/values.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using arith::ExprKind;
using llvm::Value;

namespace {

constexpr int64_t kBranches = 256;  ///< operations that are tested at once, each of which ends a block

}  // namespace

OverflowChecks::OverflowChecks(Frame& frame, LaneArithmetic& lanes, Values& values, Failures& failures)
    : frame_(frame), b_(frame.builder()), lanes_(lanes), values_(values), failures_(failures) {
  if (frame.source().checks.overflow_code != 0) ranges_.emplace(frame.source());
}

Lanes OverflowChecks::checked(ExprKind kind, Lanes a, Lanes b) {
  auto id = kind == ExprKind::kAdd   ? llvm::Intrinsic::sadd_with_overflow
            : kind == ExprKind::kSub ? llvm::Intrinsic::ssub_with_overflow
                                     : llvm::Intrinsic::smul_with_overflow;
  Value *both = b_.CreateBinaryIntrinsic(id, a.scalar, b.scalar), *failed = b_.CreateExtractValue(both, 1);
  Lanes out{b_.CreateExtractValue(both, 0), 0, nullptr, lanes_.any_of(lanes_.any_of(a.overflow, b.overflow), failed)};
  if (lanes_.count() != 0 || (!optional_ && tests_ < kBranches)) leave_if(std::exchange(out.overflow, nullptr));
  return out;
}

Value* OverflowChecks::checked_now(ExprKind kind, Value* a, Value* b) {
  Lanes out = checked(kind, {a}, {b});
  if (out.overflow != nullptr) leave_if(out.overflow);
  return out.scalar;
}

Value* OverflowChecks::divisor_where_fits(Lanes a, Lanes b) {
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(b.scalar); known != nullptr && known->getSExtValue() > 0)
    return known;
  return b_.CreateSelect(lanes_.any_of(a.overflow, b.overflow), llvm::ConstantInt::get(b.scalar->getType(), 1),
                         b.scalar);
}

/// All leave by one block, but for guards, whose record says what they compare.
void OverflowChecks::leave_if(Value* flag) {
  ++tests_;
  llvm::BasicBlock*& leave = guard_ != nullptr ? guard_leaves_ : leaves_;
  const bool is_new = leave == nullptr;
  if (is_new) leave = frame_.block("overflow");
  llvm::BasicBlock* go_on = frame_.block("fits");
  b_.CreateCondBr(flag, leave, go_on, llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights());
  if (is_new) {
    b_.SetInsertPoint(leave);
    leave_by(tir::overflow_record(frame_.source(), guard_));
  }
  b_.SetInsertPoint(go_on);
}

/// What a guard compares is in its record as far as it can be computed.
void OverflowChecks::leave_by(const tir::Guard& record) {
  const tir::Guard* computed_by = std::exchange(guard_, nullptr);
  Operand operand(*this, false);
  values_.isolated([&] {
    auto known = [&](Expr e, int64_t otherwise) -> Value* {
      return e && all_fit(e) ? values_.scalar(e) : b_.getInt64(static_cast<uint64_t>(otherwise));
    };
    Value* expected = known(record.expected, INT64_MAX);
    b_.CreateRet(failures_.fail(record, expected, known(record.actual, tir::overflow_actual(record))));
  });
  guard_ = computed_by;
}

}  // namespace relaxc::codegen_llvm
