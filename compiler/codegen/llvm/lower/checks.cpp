// checks.cpp: emits operations with an overflow flag, and the blocks that leave a function if the flag is set.
#include "compiler/codegen/llvm/lower/checks.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>

#include <vector>

#include "compiler/codegen/llvm/lower/failures.h"
#include "compiler/codegen/llvm/lower/values.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using arith::ExprKind;
using llvm::Value;

namespace {

constexpr int64_t kBranches = 256;  ///< operations that are followed by a branch each, which ends a block
constexpr int64_t kUntested = 16;   ///< after those, operations that share a branch

/// The flags that `flag` is an `or` of, each once.
struct Disjunction {
  std::vector<Value*> flags;
  bool shares = false;  ///< whether there are several paths to a part of it
};

Disjunction disjunction_of(Value* flag) {
  using llvm::PatternMatch::m_Or, llvm::PatternMatch::m_Value, llvm::PatternMatch::match;
  Disjunction out;
  llvm::SmallPtrSet<Value*, 32> seen;
  for (std::vector<Value*> open{flag}; !open.empty();) {
    Value *next = open.back(), *a = nullptr, *b = nullptr;
    open.pop_back();
    if (!seen.insert(next).second)
      out.shares = true;
    else if (match(next, m_Or(m_Value(a), m_Value(b))))
      open.insert(open.end(), {b, a});
    else
      out.flags.push_back(next);
  }
  return out;
}

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
  ++untested_;
  if (lanes_.count() != 0 || (!optional_ && (tests_ < kBranches || untested_ >= kUntested)))
    leave_if(std::exchange(out.overflow, nullptr));
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

/// The same flag as an `or` of each of its flags once. Operations with shared operands make a graph in which the number
/// of paths doubles with each level, and LLVM's GVN draws conclusions from a branch on all of the paths.
Value* OverflowChecks::without_sharing(Value* flag) {
  Disjunction all = disjunction_of(flag);
  if (!all.shares) return flag;
  Value* out = nullptr;
  for (Value* one : all.flags) out = lanes_.any_of(out, one);
  return out;
}

/// Emits a branch out of the function. All share a block for that, except guards, whose record says what they compare.
void OverflowChecks::leave_if(Value* flag) {
  ++tests_, untested_ = 0;
  flag = without_sharing(flag);
  llvm::BasicBlock*& leave = guard_ != nullptr ? guard_leaves_ : leaves_;
  const bool is_new = leave == nullptr;
  if (is_new) leave = frame_.block("overflow");
  llvm::BasicBlock* continue_block = frame_.block("fits");
  b_.CreateCondBr(flag, leave, continue_block, llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights());
  if (is_new) {
    b_.SetInsertPoint(leave);
    leave_by(tir::overflow_record(frame_.source(), guard_));
  }
  b_.SetInsertPoint(continue_block);
}

/// Emits the record and the return. Values that a guard compares are recorded if they can be computed without overflow.
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
