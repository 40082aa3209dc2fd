// contracts.h: contracts in ACSL, the specification language of Frama-C, as comments in C text.
//
// A contract says what the planner and the scheduler know and C cannot: how many elements a buffer has, which buffers
// are apart, what a function writes, and how far a loop runs. Frama-C's Eva and WP check the text against it
// (docs/safety.md).
#pragma once

#include <string>
#include <vector>

#include "compiler/codegen/c/names.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::codegen_c {

/// Returns the lines of the contract of a kernel whose buffers have fixed sizes: which ranges it reads and writes, what
/// is separated, what it assigns and which statuses it returns. `fails`: whether it returns a status and takes
/// `rlx_error* error`. No lines if a size is not fixed, or if it makes views or calls functions.
std::vector<std::string> function_contract(const tir::PrimFunc& function, Names& names, bool fails);

/// Returns the lines of the contract of a loop over `counter` in [begin, end): its invariant, what it assigns, and its
/// variant. No lines if the body makes views, calls functions or writes a buffer whose size is not fixed.
std::vector<std::string> loop_contract(const tir::For& loop, const std::string& counter, const std::string& begin,
                                       const std::string& end, Names& names);

}  // namespace relaxc::codegen_c
