// move_rules.h: rules of canonicalize about values that only change their place: transposes, views, broadcasts.
#pragma once

#include "compiler/transform/graph/rewriting/rewrite.h"

namespace relaxc {

/// f(move(x)) is move(f(x)): element-wise operators are in front of transposes and views without other readers.
relax::Value* elementwise_behind_move(const Site& s);
/// An element-wise operator broadcasts by itself.
relax::Value* elementwise_of_broadcast(const Site& s);
/// Dims of 1 come and go in front of a transpose without other readers.
relax::Value* unit_dims_of_transpose(const Site& s);
/// (a^T b^T)^T is b a.
relax::Value* transpose_of_product(const Site& s);
/// The same permutation in front of every operand is one behind.
relax::Value* concat_of_transposes(const Site& s);
/// Rows whose elements are apart are a vector's worth of rows side by side, and whole only after the move.
relax::Value* softmax_of_transpose(const Site& s);
/// Cut first, then move what is left.
relax::Value* part_of_transpose(const Site& s);

/// The permutation of a permute_dims, its axes counted from the front.
std::vector<int64_t> permutation(const relax::Op& op);

}  // namespace relaxc
