// move_rules.h: rules of canonicalize for ops that only move elements: transposes, views, broadcasts.
#pragma once

#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

/// Moves element-wise operators before transposes and views without other readers: f(move(x)) -> move(f(x)).
relax::Value* elementwise_behind_move(const Site& s);
/// Removes broadcasts of operands of an element-wise operator, which broadcasts them itself.
relax::Value* elementwise_of_broadcast(const Site& s);
/// Moves views that add or remove dims of 1 before a transpose without other readers.
relax::Value* unit_dims_of_transpose(const Site& s);
/// Replaces (a^T b^T)^T by b a.
relax::Value* transpose_of_product(const Site& s);
/// Moves a permutation that all operands of a concatenation share behind it.
relax::Value* concat_of_transposes(const Site& s);
/// Moves a softmax before a transpose if its axis is not the last one there: vectors then hold neighbouring rows.
relax::Value* softmax_of_transpose(const Site& s);
/// Moves a slice before a transpose, so that less is transposed.
relax::Value* part_of_transpose(const Site& s);

/// Returns the permutation of a permute_dims, with axes counted from the front.
std::vector<int64_t> permutation(const relax::Op& op);

}  // namespace relaxc
