// axes.h: axes that are read when the program runs.
//
// Newer opsets pass axes as tensors. Almost always they are constants; where they are not, their number still is known,
// so ranks are, and each question "is axis i one of them?" becomes a select in a dim. Rearranging then needs nothing
// but reshapes: a dim d that may be reduced is seen as two, one of which is 1.
#pragma once

#include "frontends/onnx/node.h"

namespace relaxc::frontend {

/// Refuses a run in which `holds` is false.
Status expect(Node& node, Expr holds);

/// Axes as expressions in 0..rank-1, numbers where they are constant. Axes outside of the rank and axes given twice are
/// refused here if they are constant, else when the program runs. `count`: how many there must be, where another
/// operand says so.
Result<std::vector<Expr>> axis_exprs(Node& node, size_t input, std::string_view what, int64_t rank,
                                     std::optional<int64_t> count = {});
/// Refuses a run in which one of `axes`, negative ones counted from the end already, is none of `rank` dims or is
/// there twice. `count`: the axes from here on are fill, and may be anything.
Status expect_axes(Node& node, const std::vector<Expr>& axes, int64_t rank, Expr count = {});
/// All of them as numbers, if they are.
std::optional<std::vector<int64_t>> as_numbers(const std::vector<Expr>& axes);
/// Whether `position` is one of the axes, as a bool expression.
Expr is_one_of(Node& node, int64_t position, const std::vector<Expr>& axes);

/// `dims` with dims of 1 put in at `axes`, which count in the result.
std::vector<Expr> with_ones(Node& node, const std::vector<Expr>& dims, const std::vector<Expr>& axes);
/// `dims` without those at `axes`.
std::vector<Expr> without(Node& node, const std::vector<Expr>& dims, const std::vector<Expr>& axes);

}  // namespace relaxc::frontend
