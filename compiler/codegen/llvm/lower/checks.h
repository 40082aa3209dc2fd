// checks.h: index arithmetic that leaves the function where it overflows.
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
// than a flag, and functions of ordinary models have no more of them. Beyond these every sixteenth one is: LLVM's
// instruction selection orders flags of a processor in time that grows faster than a block's number of them.
//
// Rejected: naming shared values by lets in front of their first use (a way that is not chosen may overflow).
#pragma once

#include <optional>
#include <utility>

#include "compiler/codegen/llvm/lower/lanes.h"
#include "compiler/tir/index_checks.h"

namespace relaxc::codegen_llvm {

class Failures;
class Values;

class OverflowChecks {
 public:
  OverflowChecks(Frame& frame, LaneArithmetic& lanes, Values& values, Failures& failures);

  /// Whether the function checks its index arithmetic at all.
  bool are_on() const { return ranges_.has_value(); }
  /// Whether the operation that is `e` itself may overflow.
  bool needed(arith::Expr e) { return ranges_ && !ranges_->fits(e); }
  /// Whether nothing needs a check on the way to `e`.
  bool all_fit(arith::Expr e) { return !ranges_ || ranges_->all_fit(e); }
  /// Of a value of a function with checks.
  arith::Range range_of(arith::Expr e) { return ranges_->range(e); }

  Lanes checked(arith::ExprKind kind, Lanes a, Lanes b);
  /// The same, tested before it is used.
  llvm::Value* checked_now(arith::ExprKind kind, llvm::Value* a, llvm::Value* b);
  /// 1 where an operand has overflowed: the divisor may have become 0, or -1 and the dividend the least integer.
  llvm::Value* divisor_where_fits(Lanes a, Lanes b);
  void leave_if(llvm::Value* flag);

  /// While it exists, checks leave with the record of this guard, or of the function where it is null.
  class Computing {
   public:
    Computing(OverflowChecks& checks, const tir::Guard* guard)
        : checks_(checks),
          outer_(std::exchange(checks.guard_, guard)),
          outer_leaves_(std::exchange(checks.guard_leaves_, nullptr)) {}
    ~Computing() { checks_.guard_ = outer_, checks_.guard_leaves_ = outer_leaves_; }
    Computing(const Computing&) = delete;
    Computing& operator=(const Computing&) = delete;

   private:
    OverflowChecks& checks_;
    const tir::Guard* outer_;
    llvm::BasicBlock* outer_leaves_;
  };
  /// While it exists, what is computed may be what no one asks for, or is surely asked for.
  class Operand {
   public:
    Operand(OverflowChecks& checks, bool optional)
        : checks_(checks), outer_(std::exchange(checks.optional_, optional)) {}
    ~Operand() { checks_.optional_ = outer_; }
    Operand(const Operand&) = delete;
    Operand& operator=(const Operand&) = delete;

   private:
    OverflowChecks& checks_;
    bool outer_;
  };
  /// While it exists, code is one way of a branch: what it computes is asked for, and where it leaves the function is
  /// no place for what follows the branch.
  class Way {
   public:
    explicit Way(OverflowChecks& checks) : operand_(checks, false), checks_(checks), leave_(checks.guard_leaves_) {}
    ~Way() { checks_.guard_leaves_ = leave_; }
    Way(const Way&) = delete;
    Way& operator=(const Way&) = delete;

   private:
    Operand operand_;
    OverflowChecks& checks_;
    llvm::BasicBlock* leave_;
  };

 private:
  llvm::Value* without_sharing(llvm::Value* flag);
  void leave_by(const tir::Guard& record);

  Frame& frame_;
  llvm::IRBuilder<>& b_;
  LaneArithmetic& lanes_;
  Values& values_;
  Failures& failures_;
  std::optional<tir::IndexRanges> ranges_;    ///< of a function whose index arithmetic is checked
  llvm::BasicBlock* leaves_ = nullptr;        ///< where checks leave the function; null: none has yet
  const tir::Guard* guard_ = nullptr;         ///< whose condition is being computed
  llvm::BasicBlock* guard_leaves_ = nullptr;  ///< where checks of that leave; null: none has yet
  int64_t tests_ = 0;                         ///< of overflow that the function has, a branch each
  int64_t untested_ = 0;                      ///< operations since the last test
  bool optional_ = false;                     ///< what is being computed may be what no one asks for
};

}  // namespace relaxc::codegen_llvm
