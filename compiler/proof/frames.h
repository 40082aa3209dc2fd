// frames.h: whether the plan of memory is right, found out without the planner.
//
// What is claimed of each host function, for all values of its symbols that its guards admit:
// - each two tensors that hold contents at one time lie apart, but for what the program says may be shared: parts of
// one
//   tensor, and operands that a kernel may overwrite by its result;
// - each tensor lies inside of its memory: the arena, a pool, or a result whose contents do not count yet;
// - each part of a tensor lies where that tensor does, and a copy that is gone had both operands in one place;
// - a callee gets as much memory as it was planned with, and scalars that meet what is taken for granted of them;
// - the function that tells callers the size of the arena tells no less.
//
// Sizes are integers here. That int64 holds them is checked when they are computed (tir/index_checks.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/interface/object.h"
#include "compiler/proof/verdict.h"
#include "compiler/tir/evaluator.h"

namespace relaxc::proof {

/// Bodies of host functions before their memory was planned, by name.
using Bodies = std::map<std::string, tir::Stmt>;

/// The claims about each host function of `functions`, in their order.
/// \param find  gives all functions of the module
std::vector<Claims> check_frames(const std::vector<const tir::PrimFunc*>& functions, const Bodies& unplanned,
                                 const interface::Object& object, const tir::FindFunction& find);

}  // namespace relaxc::proof
