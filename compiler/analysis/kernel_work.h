// kernel_work.h: how much arithmetic and memory traffic one call of a kernel is.
#pragma once

#include <unordered_map>

#include "compiler/arith/simplify.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::analysis {

/// Values of variables, with a typical one for those that only the run knows.
class Numbers {
 public:
  explicit Numbers(int64_t typical) : typical_(typical) {}
  void set(arith::Var var, int64_t value) { values_[var] = value; }
  void let(arith::Var var, arith::Expr value);
  /// The value of an index expression; the typical one if it overflows or reads memory.
  int64_t of(arith::Expr e) const;

 private:
  std::unordered_map<arith::Expr, int64_t> values_;
  int64_t typical_;
};

struct Work {
  double flops = 0;         ///< operations on floats that run, one a lane; a fused multiply-add is two
  double integer_ops = 0;   ///< operations on integers that are not indices; a product of bytes and its sum are two
  double bytes = 0;         ///< of all arguments, each read or written once
  double weight_bytes = 0;  ///< of those that are model data
};

/// What scalars and symbols of `callee` are in this call.
Numbers inside_call(const tir::PrimFunc& callee, const tir::Invoke& invoke, const Numbers& numbers);
/// The work of `invoke`, a call of `callee`, whose arguments have the values that `numbers` says.
Work work_of_call(const tir::PrimFunc& callee, const tir::Invoke& invoke, const Numbers& numbers);

}  // namespace relaxc::analysis
