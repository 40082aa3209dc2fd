// winograd.cpp: see winograd.h.
#include "compiler/schedule/primitives/winograd.h"

#include <fmt/format.h>

#include "compiler/schedule/primitives/conditions.h"
#include "compiler/schedule/primitives/winograd_nests.h"
#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {
namespace {

constexpr int64_t kMostLanes = 256;

}  // namespace

Legal<Winograd::Facts> Winograd::legal(const Tree& tree) const {
  std::optional<ReductionGroup> group = group_in(tree);
  const bool begins = group && analysis::as_nest(group->reduction).block->id == block;
  std::optional<RowFilter> filter;
  if (begins && tree.may_allocate()) filter = row_filter_of(tree, *group);
  RELAXC_REQUIRE(
      filter.has_value(),
      fmt::format(
          "block '{}' is not a convolution by constant filters of three rows that starts the nests in focus, or the "
          "kernel has no scratch memory",
          block_name(tree, block)));
  RELAXC_LEGAL(is_marked(tree, block));
  auto is_known = [](int64_t results) { return results == 2 || results == 4; };
  RELAXC_REQUIRE(is_known(rows) && (columns == 1 || is_known(columns)),
                 "Winograd's algorithm gives 2 or 4 results at once");
  RELAXC_REQUIRE(columns == 1 || filter->column_taps == WinogradTransform::kTaps,
                 "Winograd's algorithm along rows needs filters of three columns");
  const int64_t* all = filter->rows.constant();
  RELAXC_REQUIRE(tiles > 0 && (all == nullptr || tiles <= (*all + rows - 1) / rows),
                 fmt::format("{} tiles are more than there are", tiles));
  RELAXC_REQUIRE(period >= 0, "a period is a number of bytes");
  RELAXC_REQUIRE(lanes > 0 && lanes <= kMostLanes, fmt::format("vectors have 1 to {} lanes", kMostLanes));
  RELAXC_REQUIRE((width > 0) == filter->is_open(), "a width belongs to images of open size");
  return Facts{std::make_shared<const RowFilter>(*std::move(filter)), *std::move(group)};
}

Winograd::Made Winograd::apply(Tree& tree, const Facts& facts) const {
  const WinogradNests nests(tree, *facts.filter, {rows, columns, tiles, width}, {fma, period, lanes});
  FilterNests made;
  Stmt data = nests.data_nest(made), sums = nests.sum_nest();
  Stmt result = nests.result_nest(facts.group, made);
  made.sums = analysis::as_nest(sums).block->id;
  tree.set_root(nests.in_blocks(tir::Builder(tree.context()).seq({data, sums, result}), made));
  std::erase_if(tree.operands(), [&](const Operand& one) { return one.buffer == facts.filter->weight; });
  Operand at_points{nests.weight_at_points(), facts.filter->weight, {}};
  at_points.made.filtered = nests.filtered_axes();
  tree.operands().push_back(at_points);
  return made;
}

}  // namespace relaxc::schedule
