// axes.cpp: computes shapes from axes.
#include "frontends/onnx/axes.h"

namespace relaxc::frontend {
namespace {

/// Returns the number of axes that are less than `position`.
Expr count_below(Node& node, int64_t position, const std::vector<Expr>& axes) {
  Expr count = node.index(0);
  for (Expr axis : axes)
    count = count + arith::select(arith::lt(axis, node.index(position)), node.index(1), node.index(0));
  return node.simplify(count);
}

/// Returns dims[at] for an index `at` that may be symbolic.
Expr pick(Node& node, const std::vector<Expr>& dims, Expr at) {
  if (const int64_t* number = at.constant();
      number != nullptr && *number >= 0 && *number < static_cast<int64_t>(dims.size()))
    return dims[static_cast<size_t>(*number)];
  Expr result = node.index(1);
  for (size_t i = dims.size(); i-- > 0;)
    result = arith::select(arith::eq(at, node.index(static_cast<int64_t>(i))), dims[i], result);
  return result;
}

}  // namespace

Status expect(Node& node, Expr holds) {
  Expr flag = node.simplify(arith::select(holds, node.index(1), node.index(0)));
  if (flag.is_constant(1)) return Done{};
  RELAXC_DO(node.builder().match_cast(node.shape({flag}), relax::shape_info(node.context(), {node.index(1)}), {}));
  return Done{};
}

Status expect_axes(Node& node, const std::vector<Expr>& axes, int64_t rank, Expr count) {
  Expr all = node.context().boolean(true);
  for (size_t i = 0; i < axes.size(); ++i) {
    Expr inside = arith::logical_and(arith::le(node.index(0), axes[i]), arith::lt(axes[i], node.index(rank)));
    for (size_t k = 0; k < i; ++k) inside = arith::logical_and(inside, arith::ne(axes[i], axes[k]));
    if (count) inside = arith::logical_or(arith::le(count, node.index(static_cast<int64_t>(i))), inside);
    all = arith::logical_and(all, inside);
  }
  return expect(node, all);
}

Result<std::vector<Expr>> axis_exprs(Node& node, size_t input, std::string_view what, int64_t rank,
                                     std::optional<int64_t> count) {
  RELAXC_TRY(std::vector<Expr> axes, node.ints(input, count));
  if (static_cast<int64_t>(axes.size()) > rank)
    return node.error(Kind::invalid_value, "there are {} {} for {} dims", axes.size(), what, rank);
  if (std::optional<std::vector<int64_t>> numbers = as_numbers(axes)) {
    RELAXC_TRY(numbers, normal_axes(node, *numbers, rank));
    for (size_t i = 0; i < axes.size(); ++i) axes[i] = node.index((*numbers)[i]);
    return axes;
  }
  for (Expr& axis : axes) axis = node.simplify(arith::select(arith::lt(axis, node.index(0)), axis + rank, axis));
  RELAXC_DO(expect_axes(node, axes, rank));
  return axes;
}

std::optional<std::vector<int64_t>> as_numbers(const std::vector<Expr>& axes) {
  std::vector<int64_t> numbers;
  for (Expr axis : axes) {
    if (axis.constant() == nullptr) return std::nullopt;
    numbers.push_back(*axis.constant());
  }
  return numbers;
}

Expr is_one_of(Node& node, int64_t position, const std::vector<Expr>& axes) {
  Expr found = node.context().boolean(false);
  for (Expr axis : axes) found = arith::logical_or(found, arith::eq(axis, node.index(position)));
  return found;
}

std::vector<Expr> with_ones(Node& node, const std::vector<Expr>& dims, const std::vector<Expr>& axes) {
  std::vector<Expr> result;
  for (size_t j = 0; j < dims.size() + axes.size(); ++j) {
    int64_t position = static_cast<int64_t>(j);
    Expr from = pick(node, dims, node.simplify(node.index(position) - count_below(node, position, axes)));
    result.push_back(node.simplify(arith::select(is_one_of(node, position, axes), node.index(1), from)));
  }
  return result;
}

std::vector<Expr> without(Node& node, const std::vector<Expr>& dims, const std::vector<Expr>& axes) {
  // Dim j of the result is the dim i that is not an axis and has j other such dims before it.
  std::vector<Expr> result;
  for (size_t j = 0; j + axes.size() < dims.size(); ++j) {
    Expr picked = node.index(1);
    for (size_t i = dims.size(); i-- > 0;) {
      int64_t position = static_cast<int64_t>(i);
      Expr before = node.simplify(node.index(position) - count_below(node, position, axes));
      Expr here = arith::logical_and(arith::logical_not(is_one_of(node, position, axes)),
                                     arith::eq(before, node.index(static_cast<int64_t>(j))));
      picked = arith::select(here, dims[i], picked);
    }
    result.push_back(node.simplify(picked));
  }
  return result;
}

}  // namespace relaxc::frontend
