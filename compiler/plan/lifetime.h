// lifetime.h: from when to when each allocation of a function is needed.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/arith/facts.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::plan {

/// An allocation and the inclusive interval of statements, numbered in textual order, between which its contents count.
/// Two allocations whose intervals do not meet may share memory.
struct Lifetime {
  tir::BufferRef buffer = nullptr;
  uint32_t first = 0, last = 0;
  /// An allocation of the same size that ends with the call in which this one begins, and whose memory that call may
  /// write while it reads it; null: none. `by` is the callee.
  tir::BufferRef successor_of = nullptr;
  std::string by = {};
};

/// Which arguments of a call may be one memory: indices of an input and of an output of the same size.
using InPlace = std::function<std::vector<std::pair<size_t, size_t>>(const tir::Invoke&)>;

/// The lifetimes of all allocations of global memory in `body`, in order of their Allocs; what is never accessed is not
/// listed. Sizes are equal if `facts` say so.
std::vector<Lifetime> lifetimes(tir::Stmt body, const InPlace& in_place = {}, const arith::Facts& facts = {});

}  // namespace relaxc::plan
