// rule_parts.h: steps that several rules take.
#pragma once

#include "compiler/analysis/pattern.h"
#include "compiler/schedule/strategies/rules.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

/// Terms of a sum of vectors that take as long as storing its lanes apart.
inline double scattered_terms(const Target& target) {
  return target.scatter_cycles * target.fma_per_cycle;
}

/// Lanes of a vector of the widest element that `s` reads or writes; 1: the target has no vectors.
int64_t lanes_of(const Target& target, Stmt s);
/// Masked loads and stores are cheap on targets with wide vectors; elsewhere the rest is done one by one.
Tail tail_of(const Target& target);
/// The loops begin at 0 and are, one by one, what the block's axes are bound to.
bool is_normal(const analysis::Nest& nest);
/// The axes of the nest that are no sums, if they are what it subscripts its result with, in order.
std::vector<Var> own_axes(const analysis::Nest& nest);
/// Fuses neighbours in a chain of perfectly nested loops wherever possible; `loops` becomes what is left.
Legal<> fuse_neighbours(Tree& s, std::vector<uint32_t>& loops);
/// Whole vectors without a mask, then what is left.
Legal<> vectorize_whole(Tree& s, uint32_t loop, int64_t lanes, const Target& target);

/// `body` with these locals, 0 at first: lanes that are masked, and places that a branch leaves out, have numbers, too.
Stmt in_locals(Context& context, const std::vector<BufferRef>& locals, const std::vector<Stmt>& body);
/// `body` where `condition` holds (null: everywhere): what does not depend on `var` is asked first, and once for all
/// lanes.
Stmt where(Context& context, Expr condition, Var var, Stmt body);
/// The element `at` of the group's reduction, which is `value`, and what its consumers make of it; those that are seen
/// are stored.
Stmt element_of(Context& context, const ReductionGroup& group, BufferRef result, const tir::Indices& at, Expr value);

}  // namespace relaxc::schedule
