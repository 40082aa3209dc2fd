// part_rules.h: rules of canonicalize about slices, concatenations and pads.
#pragma once

#include "compiler/transform/graph/rewriting/rewrite.h"
#include "compiler/transform/tensor_part.h"

namespace relaxc {

/// The part of `x`, or `x` where that is all of it.
relax::Value* make_part(const Site& s, relax::Value* x, const Part& part);

/// A slice of everything is what it slices.
relax::Value* part_without_effect(const Site& s);
/// A slice of a view of a transpose, along an axis that the view kept, is a view of a slice of the transpose.
relax::Value* part_of_viewed_transpose(const Site& s);
/// An axis that is split in two, and cut to one place along the inner, is every n-th element along the axis.
relax::Value* one_of_neighbours(const Site& s);
/// A slice of a slice along the same axis is one slice.
relax::Value* part_of_part(const Site& s);
/// A slice that is in one operand of a concatenation is a slice of that operand, or the operand.
relax::Value* part_of_concat(const Site& s);
/// Operands that are concatenations along the same axis give their operands; those without elements go.
relax::Value* concat_of_concats(const Site& s);
/// A concatenation of all parts of one tensor, in order, is the tensor; neighbouring parts are one part.
relax::Value* concat_of_parts(const Site& s);
/// A pad of zero elements everywhere is what it pads.
relax::Value* pad_by_nothing(const Site& s);

}  // namespace relaxc
