// shape.h: what deduction rules share: broadcasting, axes and sizes.
//
// Symbols that meet in a broadcast and cannot be proved equal broadcast when the program runs: the result's dim is
// `select(a == 1, b, a)`, each operand is read at index 0 along a dim that is 1, and the op requires that the dims are
// equal or one of them is 1. Dims that are proved equal cost nothing.
#pragma once

#include "compiler/ops/common/family.h"

namespace relaxc::ops {

using Dims = std::vector<Expr>;

/// The shape of a and b broadcast together (right-aligned); records requirements with the op.
Result<Dims> broadcast_dims(InferContext& c, const Dims& a, const Dims& b);
/// The shape that `a` broadcast to exactly `target` has: each dim of `a` must be 1 or the target's.
relaxc::Status require_broadcast_to(InferContext& c, const Dims& a, const Dims& target);
/// The subscripts of an operand of shape `shape` where the result, of shape `out`, is at `i`.
Indices broadcast_indices(const Dims& shape, const Indices& i, const Dims& out);
Expr load_broadcast(DefineContext& d, BufferRef x, const Indices& i, const Dims& out);

/// Requires that two dims are the same.
relaxc::Status require_equal(InferContext& c, Expr a, Expr b, const std::string& what);
/// The same where more can be said of it than that `what` differ.
relaxc::Status require_equal(InferContext& c, Expr a, Expr b, const std::string& what, const Found& found);
/// An operand as messages name it, and one of its dims.
std::string operand_text(const InferContext& c, size_t index);
std::string dim_of_operand(const InferContext& c, size_t index, size_t axis);

Expr product(Context& context, const Dims& dims);
/// `axes` normalized to 0..rank-1, sorted; fails on repeats. No axes: all of them.
Result<std::vector<int64_t>> all_or_axes(InferContext& c, const std::vector<int64_t>& axes, int64_t rank);
bool contains(const std::vector<int64_t>& axes, size_t axis);
/// An axis attribute of an op whose operand 0 has `rank`, in a definition (deduction has checked it).
size_t axis_of(int64_t axis, size_t rank);

/// "[n, 4]" for messages.
std::string text(const Dims& dims);

/// All results have one info.
inline std::vector<Info> one(Info info) {
  return {info};
}

}  // namespace relaxc::ops
