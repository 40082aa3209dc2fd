// contracts.h: contracts in ACSL, the specification language of Frama-C, as comments in C text.
//
// A contract says what the planner and the scheduler know and C cannot: how many elements a buffer has, which buffers
// are apart, what a function writes, and how far a loop runs. Frama-C's Eva and WP check the text against it
// (docs/safety.md).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/codegen/c/conventions.h"
#include "compiler/codegen/c/names.h"
#include "compiler/interface/object.h"
#include "compiler/tir/prim_func.h"

namespace relaxc::codegen_c {

/// Returns the lines of the contract of a kernel, or of a function that calls kernels: the bounds of its scalars, which
/// ranges it reads and writes, what is separated, what it assigns and which statuses it returns. No lines if the size
/// of a buffer is not fixed, or if it may write to memory that is no parameter.
///
/// \param own    its convention
/// \param apart  whether callers keep each buffer that it stores into apart from all others
std::vector<std::string> function_contract(const tir::PrimFunc& function, const Convention& own, Names& names,
                                           bool apart);

/// Returns the lines of the contract of a function that C calls: which memory the pointers of its parameters, and of
/// the structs that these point to, must have unless they are null, what it assigns and which statuses it returns. No
/// lines if a size is not fixed and no field has it.
std::vector<std::string> call_contract(const tir::PrimFunc& function, const Conventions& callees,
                                       const interface::Hooks& hooks, Names& names, bool apart);

/// Returns the lines of the contract of a loop over `counter` in [begin, end): its invariant, what it assigns, and its
/// variant. No lines if the body may write a buffer whose size is not fixed, or if what it writes is not known.
std::vector<std::string> loop_contract(const tir::For& loop, const std::string& counter, const std::string& begin,
                                       const std::string& end, const Conventions& callees, Names& names);

// For both kinds of functions:

/// Returns the clauses as one comment.
std::vector<std::string> comment(const std::vector<std::string>& clauses);
std::string assigns_clause(const std::vector<std::string>& assigned);
std::string ensures_clause(const std::set<int32_t>& statuses);

}  // namespace relaxc::codegen_c
