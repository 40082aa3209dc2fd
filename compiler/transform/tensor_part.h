// tensor_part.h: slices as ranges along one axis, whatever operator wrote them.
#pragma once

#include <optional>
#include <vector>

#include "compiler/relax/op_def.h"

namespace relaxc {

/// `extent` elements from `begin` on along one axis.
struct Part {
  size_t axis;
  int64_t begin, extent;
};

/// Returns the dims of a shape value; nothing unless all are known when compiling.
std::optional<std::vector<int64_t>> shape_numbers(const relax::Value* value);
/// Returns `axis`, which counts from the end if it is negative, as an index of one of `rank` axes.
size_t axis_at(int64_t axis, size_t rank);
/// Returns the one axis that a slice restricts, and the range there. Nothing if the op is no such slice, or has numbers
/// that are not known when compiling.
std::optional<Part> part_of(const relax::Op* op);
/// Returns the byte offset of a slice in its operand if it is contiguous there, since all dims before the axis are 1;
/// nothing for any other op.
std::optional<arith::Expr> contiguous_part(const relax::Op& op);

}  // namespace relaxc
