// part_rules.h: rules of canonicalize for slices, concatenations and pads.
#pragma once

#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/tensor_part.h"

namespace relaxc {

/// Returns the part of `x`, or `x` if the part is all of it.
relax::Value* make_part(const Site& s, relax::Value* x, const Part& part);

/// Removes a slice of everything.
relax::Value* part_without_effect(const Site& s);
/// Moves a slice before a view of a transpose, if the view keeps the sliced axis.
relax::Value* part_of_viewed_transpose(const Site& s);
/// Replaces an axis that is split in two and sliced to one index of the inner one by a slice with a stride.
relax::Value* one_of_neighbours(const Site& s);
/// Joins two slices along the same axis.
relax::Value* part_of_part(const Site& s);
/// Replaces a slice within one operand of a concatenation by a slice of that operand, or by the operand.
relax::Value* part_of_concat(const Site& s);
/// Joins nested concatenations along the same axis, and removes operands without elements.
relax::Value* concat_of_concats(const Site& s);
/// Joins neighbouring slices of a tensor in a concatenation; all of its slices, in order, are the tensor.
relax::Value* concat_of_parts(const Site& s);
/// Removes a pad of zero elements on all sides.
relax::Value* pad_by_nothing(const Site& s);

}  // namespace relaxc
