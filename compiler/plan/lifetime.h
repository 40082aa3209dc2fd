// lifetime.h: the statements between which each allocation of a function is needed.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/arith/facts.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::plan {

/// An allocation and the inclusive interval of statements, numbered in textual order, in which its contents are needed.
/// Two allocations whose intervals do not intersect may share memory.
struct Lifetime {
  tir::BufferRef buffer = nullptr;
  uint32_t first = 0, last = 0;
  /// An allocation of the same size that ends with the call in which this one begins, and whose memory that call may
  /// overwrite with this one while it reads it; null: none. `by` is the callee.
  tir::BufferRef successor_of = nullptr;
  std::string by = {};
  /// An allocation that ends with the call in which this one begins, and whose memory this one may overlap if it begins
  /// at least `distance` bytes before it or, with `behind`, after it; null: none. `sharing` are the indices of the
  /// callee's parameters that get one of the two.
  tir::BufferRef over = nullptr;
  int64_t distance = 0;
  bool behind = false;
  std::string over_by = {};
  std::vector<size_t> sharing = {};
  int64_t alignment = 1;  ///< the largest that an access or a call needs, in bytes
};

/// What the planner is told of calls; each may be empty.
struct Calls {
  /// Returns the arguments of a call that may be one buffer: indices of an input and of an output of the same size.
  std::function<std::vector<std::pair<size_t, size_t>>(const tir::Invoke&)> in_place = {};
  /// The operands of a call that its result may overlap.
  struct Overlaps {
    size_t result = 0;  ///< index of the argument
    std::vector<tir::Overlap> operands = {};
  };
  std::function<Overlaps(const tir::Invoke&)> overlaps = {};
  /// Returns the alignment that a call needs of a buffer argument, beyond that of its elements, in bytes.
  std::function<int64_t(const tir::Invoke&, size_t argument)> alignment = {};
};

/// Returns the lifetimes of all allocations of global memory in `body`, in order of their Allocs, except those that are
/// never accessed. Sizes are equal if `facts` prove it. `donors` are parameters whose contents are not needed before
/// the body first names them; `donors_until` receives the statement where that is (UINT32_MAX: never).
std::vector<Lifetime> lifetimes(tir::Stmt body, const Calls& calls = {}, const arith::Facts& facts = {},
                                const std::vector<tir::BufferRef>& donors = {},
                                std::vector<uint32_t>* donors_until = nullptr);

}  // namespace relaxc::plan
