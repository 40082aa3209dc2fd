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
  int64_t alignment = 1;  ///< that something which is done with it needs
};

/// What a caller knows of calls.
struct Calls {
  /// Which arguments of a call may be one memory: indices of an input and of an output of the same size.
  std::function<std::vector<std::pair<size_t, size_t>>(const tir::Invoke&)> in_place = {};
  /// The alignment that a call wants of an argument that is a buffer, beyond the natural one of its element.
  std::function<int64_t(const tir::Invoke&, size_t argument)> alignment = {};
};

/// The lifetimes of all allocations of global memory in `body`, in order of their Allocs; what is never accessed is not
/// listed. Sizes are equal if `facts` say so. `donors` are parameters whose contents do not count before the body
/// first names them; `donors_until` gets when that is (UINT32_MAX: never).
std::vector<Lifetime> lifetimes(tir::Stmt body, const Calls& calls = {}, const arith::Facts& facts = {},
                                const std::vector<tir::BufferRef>& donors = {},
                                std::vector<uint32_t>* donors_until = nullptr);

}  // namespace relaxc::plan
