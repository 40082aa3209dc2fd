// counting_allocator.h: an allocator for the memory that a run asks its context for.
#pragma once

#include <algorithm>
#include <climits>
#include <list>

#include "compiler/equivalence/guarded_memory.h"
#include "tests/e2e/compile_and_run.h"

namespace relaxc::e2e {

/// Gives memory between marked bytes, counts, and fails from some call on.
class CountingAllocator {
 public:
  explicit CountingAllocator(CompiledProgram& program) {
    program.llvm().set_allocator(take, this);
    program.c().set_allocator(take, this);
  }
  int calls = 0, fail_at = INT_MAX;

  bool intact() const {
    return std::all_of(pieces_.begin(), pieces_.end(), [](const auto& piece) { return piece.intact(); });
  }

 private:
  static void* take(void* user, uint64_t bytes, uint64_t align) {
    auto& self = *static_cast<CountingAllocator*>(user);
    if (self.calls++ >= self.fail_at) return nullptr;
    return self.pieces_.emplace_back(bytes, align).data();
  }
  std::list<equivalence::GuardedMemory> pieces_;
};

}  // namespace relaxc::e2e
