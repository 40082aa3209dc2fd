// lifetime.h: from when to when each allocation of a function is needed.
#pragma once

#include <vector>

#include "compiler/tir/prim_func.h"

namespace relaxc::plan {

/// An allocation and the inclusive interval of statements, numbered in textual order, between which its contents count.
/// Two allocations whose intervals do not meet may share memory.
struct Lifetime {
  tir::BufferRef buffer = nullptr;
  uint32_t first = 0, last = 0;
};

/// The lifetimes of all allocations of global memory in `body`, in order of their Allocs; what is never accessed is not
/// listed.
std::vector<Lifetime> lifetimes(tir::Stmt body);

}  // namespace relaxc::plan
