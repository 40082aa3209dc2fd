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

/// The dims of a shape value, where all are known when compiling.
std::optional<std::vector<int64_t>> shape_numbers(const relax::Value* value);
/// `axis`, which may count from the end, of `rank` axes.
size_t axis_at(int64_t axis, size_t rank);
/// The one axis that a slice cuts, and where. Nothing for what is no such slice, or has numbers that are not known when
/// compiling.
std::optional<Part> part_of(const relax::Op* op);
/// For a slice whose elements are one behind the other in what it is a slice of (all dims before the axis are 1): the
/// byte offset at which they begin. Nothing for any other op.
std::optional<arith::Expr> contiguous_part(const relax::Op& op);

}  // namespace relaxc
