// loop_bounds.h: how often the loops of a kernel run at most.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/tir/prim_func.h"

namespace relaxc::api {

/// One loop of a kernel. INT64_MAX: no bound is known.
struct LoopBound {
  std::string name;           ///< of its variable
  int64_t depth = 0;          ///< the number of loops around it
  std::string extent;         ///< iterations of one run of the loop, as an expression of the kernel's dims
  int64_t at_most = 0;        ///< the largest value of `extent`
  int64_t total_at_most = 0;  ///< iterations in one call of the kernel
};

struct KernelLoops {
  std::vector<LoopBound> loops;  ///< in the order of the code, outer loops first
  int64_t stores_at_most = 0;    ///< elements that one call writes, temporary ones among them
  bool has_while = false;        ///< whether a loop ends by a condition on data; then nothing in it has a bound
};

/// Returns the bounds of the loops in `kernel` under `facts` about its dims.
KernelLoops loop_bounds_of(const tir::PrimFunc& kernel, const arith::Facts& facts);

}  // namespace relaxc::api
