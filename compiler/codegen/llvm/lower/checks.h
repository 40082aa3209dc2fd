// checks.h: index arithmetic that is checked for overflow; on overflow the function returns an error.
//
// The problem: sizes are long expressions that many statements share. With a branch for each operation, and each shared
// value computed for each statement and each arm of a select, one function of some models had 100,000 blocks, and the
// time of LLVM's passes grows faster than that number.
//
// The method: a value carries a flag that says whether anything it was computed from overflowed. Arithmetic continues
// with the wrapped result, which is never poison and never a trap. The flag is tested once, where the value is used: by
// a guard, a let, a view, an argument, a subscript, a branch. So sizes are straight-line code, and their values stay
// valid to the end of their suite. Of a select only the flag of the chosen arm counts, and only arms that read memory
// become branches. The first operations that a function computes unconditionally are tested at once: a jump on overflow
// is less code than a flag, and functions of ordinary models have no more of them. After these every sixteenth one is
// tested, since LLVM's instruction selection takes superlinear time to order the flags of one block.
//
// Rejected: binding shared values by lets before their first use (an arm that is not chosen may overflow).
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
  /// Whether the operation at the root of `e` may overflow.
  bool needed(arith::Expr e) { return ranges_ && !ranges_->fits(e); }
  /// Whether no operation in `e` may overflow.
  bool all_fit(arith::Expr e) { return !ranges_ || ranges_->all_fit(e); }
  /// The range of `e`; the function must have checks.
  arith::Range range_of(arith::Expr e) { return ranges_->range(e); }

  Lanes checked(arith::ExprKind kind, Lanes a, Lanes b);
  /// Like `checked`, but tests the flag at once.
  llvm::Value* checked_now(arith::ExprKind kind, llvm::Value* a, llvm::Value* b);
  /// Returns `b`, or 1 if an operand has overflowed: it could be 0, or -1 with the least integer as the dividend.
  llvm::Value* divisor_where_fits(Lanes a, Lanes b);
  void leave_if(llvm::Value* flag);

  /// While it exists, failed checks fill the error record of this guard; of the function if it is null.
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
  /// While it exists, `optional` says whether the program may leave the value that is computed unused.
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
  /// While it exists, code is inside of one arm of a branch: the values that it computes are needed, and a block that
  /// it makes for leaving the function does not dominate the code after the branch.
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
  std::optional<tir::IndexRanges> ranges_;    ///< set if the function's index arithmetic is checked
  llvm::BasicBlock* leaves_ = nullptr;        ///< the block that leaves on overflow; null until the first check
  const tir::Guard* guard_ = nullptr;         ///< the guard whose condition is computed; may be null
  llvm::BasicBlock* guard_leaves_ = nullptr;  ///< the block that leaves for that guard; null until its first check
  int64_t tests_ = 0;                         ///< tests so far, each of which is a branch
  int64_t untested_ = 0;                      ///< operations since the last test
  bool optional_ = false;                     ///< whether the value that is computed may be unused
};

}  // namespace relaxc::codegen_llvm
