// kernel_work.h: the arithmetic and the memory traffic of one call of a kernel.
#pragma once

#include <unordered_map>

#include "compiler/arith/simplify.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::analysis {

/// Values of variables, with a typical one for those that are known only at run time.
class Numbers {
 public:
  explicit Numbers(int64_t typical) : typical_(typical) {}
  void set(arith::Var var, int64_t value) { values_[var] = value; }
  void let(arith::Var var, arith::Expr value);
  /// Returns the value of an index expression; the typical one if it overflows or reads memory.
  int64_t of(arith::Expr e) const;

 private:
  std::unordered_map<arith::Expr, int64_t> values_;
  int64_t typical_;
};

struct Work {
  double flops = 0;         ///< operations on floats that are executed, one a lane; a fused multiply-add is two
  double integer_ops = 0;   ///< operations on integers that are not indices; a multiply-add of bytes is two
  double bytes = 0;         ///< of all arguments, each counted once
  double weight_bytes = 0;  ///< of the arguments that are model data
};

/// Returns the values of `callee`'s scalar parameters and symbols in this call.
Numbers inside_call(const tir::PrimFunc& callee, const tir::Invoke& invoke, const Numbers& numbers);
/// Returns the work of `invoke`, a call of `callee`; `numbers` are the values of the caller's variables.
Work work_of_call(const tir::PrimFunc& callee, const tir::Invoke& invoke, const Numbers& numbers);

}  // namespace relaxc::analysis
