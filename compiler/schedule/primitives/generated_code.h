// generated_code.h: code that several steps make.
#pragma once

#include "compiler/schedule/analysis/group.h"
#include "compiler/schedule/tree/tree.h"

namespace relaxc::schedule {

/// `body` with these locals, 0 at first: lanes that are masked, and places that a branch leaves out, have numbers, too.
Stmt in_locals(Context& context, const std::vector<BufferRef>& locals, const std::vector<Stmt>& body);
/// `body` where `condition` holds (null: everywhere): what does not depend on `var` is asked first, and once for all
/// lanes.
Stmt store_where(Context& context, Expr condition, Var var, Stmt body);
/// The element `at` of the group's reduction, which is `value`, and what its consumers make of it; those that are seen
/// are stored.
Stmt element_of(Context& context, const ReductionGroup& group, BufferRef result, const tir::Indices& at, Expr value);

}  // namespace relaxc::schedule
