// lower_checks.cpp: index arithmetic that leaves the function where it overflows, and what is remembered of values.
//
// The problem: sizes are long expressions that many statements share. A branch for each operation, and each shared
// value once for each statement and each way of a choice, made one function of some models 100,000 blocks, and LLVM's
// passes take time that grows faster than that.
//
// The method: a value carries a flag, whether anything overflowed on the way to it, and arithmetic goes on with what
// the operation gives then: wrapped, never poison, never a trap. The flag is tested once, where the value is used: by a
// guard, a let, a view, an argument, a subscript, a branch. So sizes are straight-line code whose values stay valid to
// the end of their suite. Of a choice only the chosen way's flag counts, and only ways that read memory are branches.
// The first operations of a function that are computed in any case are tested at once: a jump on overflow is less code
// than a flag, and functions of ordinary models have no more of them.
//
// Rejected: naming shared values by lets in front of their first use (a way that is not chosen may overflow).
#include <llvm/IR/MDBuilder.h>

#include <utility>

#include "compiler/arith/angle.h"
#include "compiler/arith/walks.h"
#include "compiler/codegen/llvm/lower_function.h"

namespace relaxc::codegen_llvm {

using arith::Expr;
using arith::ExprKind;
using llvm::Value;

namespace {

constexpr int64_t kBranches = 256;  ///< operations that are tested at once, each of which ends a block

}  // namespace

Value* FunctionLowering::any_of(Value* a, Value* b) {
  if (a == nullptr || a == b) return b;
  return b == nullptr ? a : b_.CreateOr(a, b);
}

Lanes FunctionLowering::checked(ExprKind kind, Lanes a, Lanes b) {
  auto id = kind == ExprKind::kAdd   ? llvm::Intrinsic::sadd_with_overflow
            : kind == ExprKind::kSub ? llvm::Intrinsic::ssub_with_overflow
                                     : llvm::Intrinsic::smul_with_overflow;
  Value *both = b_.CreateBinaryIntrinsic(id, a.scalar, b.scalar), *failed = b_.CreateExtractValue(both, 1);
  Lanes out{b_.CreateExtractValue(both, 0), 0, nullptr, any_of(any_of(a.overflow, b.overflow), failed)};
  if (lanes_ != 0 || (!optional_ && tests_ < kBranches)) leave_if_overflowed(std::exchange(out.overflow, nullptr));
  return out;
}

Value* FunctionLowering::checked_now(ExprKind kind, Value* a, Value* b) {
  Lanes out = checked(kind, {a}, {b});
  if (out.overflow != nullptr) leave_if_overflowed(out.overflow);
  return out.scalar;
}

/// 1 where an operand has overflowed: the divisor may have become 0, or -1 and the dividend the least integer.
Value* FunctionLowering::divisor_where_fits(Lanes a, Lanes b) {
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(b.scalar); known != nullptr && known->getSExtValue() > 0)
    return known;
  return b_.CreateSelect(any_of(a.overflow, b.overflow), llvm::ConstantInt::get(b.scalar->getType(), 1), b.scalar);
}

Lanes FunctionLowering::where_asked(Expr e) {
  bool optional = std::exchange(optional_, true);
  Lanes out = pending(e);
  optional_ = optional;
  return out;
}

/// All leave by one block, but for guards, whose record says what they compare.
void FunctionLowering::leave_if_overflowed(Value* flag) {
  ++tests_;
  llvm::BasicBlock*& leave = guard_ != nullptr ? guard_overflow_ : overflow_;
  const bool is_new = leave == nullptr;
  if (is_new) leave = block("overflow");
  llvm::BasicBlock* go_on = block("fits");
  b_.CreateCondBr(flag, leave, go_on, llvm::MDBuilder(function_->getContext()).createUnlikelyBranchWeights());
  if (is_new) {
    b_.SetInsertPoint(leave);
    leave_by_overflow(tir::overflow_record(source_, guard_));
  }
  b_.SetInsertPoint(go_on);
}

/// What a guard compares is in its record as far as it can be computed.
void FunctionLowering::leave_by_overflow(const tir::Guard& record) {
  const tir::Guard* computed_by = std::exchange(guard_, nullptr);
  const bool optional = std::exchange(optional_, false);
  isolated([&] {
    auto known = [&](Expr e, int64_t otherwise) -> Value* {
      return e && index_ranges_->all_fit(e) ? scalar(e) : b_.getInt64(static_cast<uint64_t>(otherwise));
    };
    Value* expected = known(record.expected, INT64_MAX);
    b_.CreateRet(fail(record, expected, known(record.actual, tir::overflow_actual(record))));
    return 0;
  });
  guard_ = computed_by, optional_ = optional;
}

/// Notes that nothing overflowed in `e`, nor in what is computed whenever `e` is.
void FunctionLowering::settle(Expr e) {
  arith::for_each_reached(e, [&](Expr node) -> std::vector<Expr> {
    auto known = memo_.find(node);
    if (known == memo_.end() || known->second.overflow == nullptr) return {};
    Lanes tested = known->second;
    tested.overflow = nullptr;
    remember(node, tested);
    return arith::eager_operands(node);
  });
}

void FunctionLowering::remember(Expr e, Lanes value) {
  auto [known, is_new] = memo_.emplace(e, value);
  memo_log_.emplace_back(e, is_new ? std::nullopt : std::optional(known->second));
  known->second = value;
}

void FunctionLowering::forget_since(size_t mark) {
  for (; memo_log_.size() > mark; memo_log_.pop_back()) {
    const auto& [e, before] = memo_log_.back();
    if (before)
      memo_.insert_or_assign(e, *before);
    else
      memo_.erase(e);
  }
}

/// What reads memory may read something else behind the next call.
void FunctionLowering::forget_reads_since(size_t mark) {
  size_t kept = mark;
  for (size_t i = mark; i < memo_log_.size(); ++i) {
    if (must_be_lazy(memo_log_[i].first))
      memo_.erase(memo_log_[i].first);
    else
      std::swap(memo_log_[kept++], memo_log_[i]);
  }
  memo_log_.resize(kept);
}

/// A subscript may lie outside of its buffer where the condition does not hold, and an external function sees its call.
bool FunctionLowering::must_be_lazy(Expr e) {
  auto is_known = [&](Expr node) { return reads_.count(node) != 0; };
  if (!is_known(e))
    arith::for_each_node(
        e, [&](Expr node) { return arith::operands_but(node, is_known); },
        [&](Expr node) {
          bool reads =
              node->kind == ExprKind::kLoad || (node->kind == ExprKind::kExtern && !arith::is_angle_call(node));
          for (Expr operand : arith::operands(node)) reads |= reads_.at(operand);
          reads_.emplace(node, reads);
        });
  return reads_.at(e);
}

}  // namespace relaxc::codegen_llvm
