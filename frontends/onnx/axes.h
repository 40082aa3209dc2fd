// axes.h: axes that are known only at run time.
//
// Newer opsets pass axes as tensors. Almost always they are constants; if not, their number is still known, so ranks
// are, and the question whether axis i is one of them becomes a select in a dim. Rearranging then needs only reshapes:
// a dim d that may be reduced becomes two, one of which is 1.
#pragma once

#include "frontends/onnx/node.h"

namespace relaxc::frontend {

/// Makes a run fail in which `holds` is false.
Status expect(Node& node, Expr holds);

/// Returns axes as expressions in [0, rank), numbers if they are constant. Axes outside of the rank and repeated axes
/// are errors, at import if they are constant, else at run time. `count`: their required number, if another operand
/// determines it.
Result<std::vector<Expr>> axis_exprs(Node& node, size_t input, std::string_view what, int64_t rank,
                                     std::optional<int64_t> count = {});
/// Makes a run fail in which one of `axes`, already counted from the start, is not in [0, rank) or is repeated. Axes
/// from index `count` on are padding and may have any value.
Status expect_axes(Node& node, const std::vector<Expr>& axes, int64_t rank, Expr count = {});
/// Returns all of them as numbers; nullopt if one is not constant.
std::optional<std::vector<int64_t>> as_numbers(const std::vector<Expr>& axes);
/// Returns whether `position` is one of the axes, as a bool expression.
Expr is_one_of(Node& node, int64_t position, const std::vector<Expr>& axes);

/// Returns `dims` with dims of 1 inserted at `axes`, which are positions in the result.
std::vector<Expr> with_ones(Node& node, const std::vector<Expr>& dims, const std::vector<Expr>& axes);
/// Returns `dims` without those at `axes`.
std::vector<Expr> without(Node& node, const std::vector<Expr>& dims, const std::vector<Expr>& axes);

}  // namespace relaxc::frontend
