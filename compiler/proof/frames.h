// frames.h: checks the memory plan without the planner.
//
// For each host function, these claims are checked for all values of its symbols that its guards admit:
// - two tensors that hold contents at the same time do not overlap, except where the program allows them to share
//   memory: parts of one tensor, and operands that a kernel
//   may overwrite by its result;
// - each tensor lies inside its memory: the arena, a pool, or a result that is not written yet;
// - a part of a tensor lies inside that tensor, and the operands of an omitted copy have one address;
// - a callee gets the memory that its plan needs, and scalars that meet the conditions assumed for it;
// - the function that tells callers the size of the arena returns at least what the plan needs.
//
// Sizes are mathematical integers here; that int64 holds them is checked when they are computed (tir/index_checks.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/interface/object.h"
#include "compiler/proof/verdict.h"
#include "compiler/tir/evaluator.h"

namespace relaxc::proof {

/// Bodies of host functions before memory planning, by name.
using Bodies = std::map<std::string, tir::Stmt>;

/// Returns the claims about each host function of `functions`, in their order.
/// \param find returns any function of the module by name
std::vector<Claims> check_frames(const std::vector<const tir::PrimFunc*>& functions, const Bodies& unplanned,
                                 const interface::Object& object, const tir::FindFunction& find);

}  // namespace relaxc::proof
