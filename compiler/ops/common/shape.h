// shape.h: functions that deduction rules share: broadcasting, axes and sizes.
//
// If two symbols meet in a broadcast and are not proved equal, the run decides: the result's dim is `select(a == 1, b,
// a)`, each operand is read at index 0 along a dim that is 1, and the op requires that the dims are equal or one of
// them is 1. Dims that are proved equal cost nothing.
#pragma once

#include "compiler/ops/common/family.h"

namespace relaxc::ops {

using Dims = std::vector<Expr>;

/// Returns the shape of a and b broadcast together (right-aligned); adds requirements to the op.
Result<Dims> broadcast_dims(InferContext& c, const Dims& a, const Dims& b);
/// Requires that `a` can be broadcast to exactly `target`: each dim of `a` is 1 or the target's.
relaxc::Status require_broadcast_to(InferContext& c, const Dims& a, const Dims& target);
/// Returns the subscripts of an operand of shape `shape` for the element `i` of a result of shape `out`.
Indices broadcast_indices(const Dims& shape, const Indices& i, const Dims& out);
Expr load_broadcast(DefineContext& d, BufferRef x, const Indices& i, const Dims& out);

/// Requires that two dims are equal; `what` names them in the message.
relaxc::Status require_equal(InferContext& c, Expr a, Expr b, const std::string& what);
/// The same with a more specific text for the failure.
relaxc::Status require_equal(InferContext& c, Expr a, Expr b, const std::string& what, const Found& found);
/// Return an operand, and one of its dims, as messages name them.
std::string operand_text(const InferContext& c, size_t index);
std::string dim_of_operand(const InferContext& c, size_t index, size_t axis);

Expr product(Context& context, const Dims& dims);
/// Returns `axes` normalized to [0, rank) and sorted; fails on repeats. Empty `axes` are all axes.
Result<std::vector<int64_t>> all_or_axes(InferContext& c, const std::vector<int64_t>& axes, int64_t rank);
bool contains(const std::vector<int64_t>& axes, size_t axis);
/// Returns an axis attribute, which deduction has checked, as an index in [0, rank).
size_t axis_of(int64_t axis, size_t rank);

/// Returns "[n, 4]", for messages.
std::string text(const Dims& dims);

/// Returns the infos of an op with one result.
inline std::vector<Info> one(Info info) {
  return {info};
}

}  // namespace relaxc::ops
