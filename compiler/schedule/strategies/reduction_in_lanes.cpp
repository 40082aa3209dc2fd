// reduction_in_lanes.cpp: sums along an axis that is contiguous in the operands: terms go into lanes.
//
// For a row sum, or a product with a transposed matrix, no axis of the result is contiguous. Several elements of the
// result share their loads: with two axes of a product, each loaded vector is used once per row or column of the tile.
// The order of the sum changes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "compiler/schedule/primitives/jam.h"
#include "compiler/schedule/primitives/reassociate.h"
#include "compiler/schedule/primitives/reduce_in_lanes.h"
#include "compiler/schedule/primitives/unroll.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "compiler/schedule/strategies/parts/tile_loops.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {
namespace {

// Heuristics: these are not properties of a machine (docs/heuristics.md says how much hangs on each).
constexpr double kMostCostInLanes = 8;   ///< maximum, relative to whole vectors everywhere, for which vectors pay
constexpr int64_t kSharedSums = 4;       ///< along an axis whose elements share loads
constexpr int64_t kSharedSumsOfFew = 3;  ///< likewise along two axes, with so few registers that 4 x 4 would spill
constexpr int32_t kFewRegisters = 32;    ///< below this, registers are few

Legal<double> match_reduction_in_lanes(const Draft& draft) {
  const ReductionForm& form = draft.reduction;
  const ReductionView view(draft);
  RELAXC_FITS(form.sliding.vector == 0, "rows of the copy are for lanes");
  RELAXC_FITS(form.words == nullptr, "four terms are summed at a time already");
  const uint32_t last = form.reduced.back();
  const int64_t* terms = draft.tree.loop(last).extent.constant();
  RELAXC_FITS(terms == nullptr || *terms >= form.lanes,
              fmt::format("the axis of the sum has {} terms, which do not fill {} lanes", *terms, form.lanes));
  const double cost = view.cost(last, true);
  RELAXC_FITS(cost < kMostCostInLanes,
              "along the axis of the sum, operands have such large strides that vectors do not pay");
  RELAXC_FITS(view.contiguous_in(last), "no operand is contiguous along the axis of the sum");
  return cost;
}

double reduction_in_lanes_cycles(const Draft& draft, const double& cost) {
  return cost * ReductionView(draft).vector_steps() / draft.target->fma_per_cycle;
}

/// Elements of the result that are computed together.
struct LanePart {
  uint32_t block, loop;
  int64_t elements;
};

/// Enough lanes to hide the latency of additions, but not more than there are terms.
int64_t lane_count(const Draft& draft, const LanePart& part) {
  // Lanes are halved step by step at the end, so their number must be a power of two.
  const auto latency = static_cast<uint64_t>(draft.target->fma_latency);
  const auto hidden = std::bit_floor(latency / static_cast<uint64_t>(part.elements));
  const int64_t lanes = draft.reduction.lanes;
  int64_t wide = lanes * std::max<int64_t>(1, static_cast<int64_t>(hidden));
  const int64_t* extent = draft.tree.loop(part.loop).extent.constant();
  while (extent != nullptr && wide > lanes && *extent < wide) wide /= 2;
  return wide;
}

struct SumsInLanes {
  std::vector<uint32_t> shared;  ///< axes whose elements share loads, innermost first
  int64_t size = kSharedSums;    ///< their elements that are computed together
  std::string axes;              ///< for explanations

  std::string text() const { return axes; }
  Legal<> carry_out(Draft& draft) const {
    const ReductionForm& form = draft.reduction;
    if (!form.spatial.empty()) RELAXC_LEGAL(scalar_replace_results(draft));
    RELAXC_LEGAL(apply(draft.tree, Reassociate{form.block}));
    std::vector<LanePart> parts{{form.block, form.reduced.back(), 1}};
    std::vector<uint32_t> unrolled;
    for (uint32_t loop : shared) RELAXC_LEGAL(cut(draft, loop, parts, unrolled));
    for (const LanePart& part : parts)
      RELAXC_LEGAL(apply(draft.tree, ReduceInLanes{part.block, part.loop, lane_count(draft, part), form.lanes,
                                                   draft.target->has_fma}));
    for (uint32_t loop : unrolled) {
      RELAXC_LEGAL(apply(draft.tree, Unroll{loop}));
      RELAXC_LEGAL(apply(draft.tree, Jam{loop}));
    }
    return Done{};
  }

 private:
  /// Splits `loop`, and joins its elements with those of the parts.
  Legal<> cut(Draft& draft, uint32_t loop, std::vector<LanePart>& parts, std::vector<uint32_t>& unrolled) const {
    const std::vector<LanePart> inner = std::move(parts);
    const std::vector<uint32_t> inner_unrolled = std::move(unrolled);
    parts.clear(), unrolled.clear();
    RELAXC_STEP(const std::vector<AxisPart> axis_parts, split_axis(draft.tree, loop, size));
    for (const AxisPart& axis : axis_parts) {
      auto here = [](const std::map<uint32_t, uint32_t>& copies, uint32_t id) {
        auto copy = copies.find(id);
        return copy == copies.end() ? id : copy->second;
      };
      const int64_t times = axis.inner == 0 ? 1 : *draft.tree.loop(axis.inner).extent.constant();
      for (const LanePart& part : inner)
        parts.push_back(
            {here(axis.copies.blocks, part.block), here(axis.copies.loops, part.loop), part.elements * times});
      for (uint32_t one : inner_unrolled) unrolled.push_back(here(axis.copies.loops, one));
      if (axis.inner != 0) unrolled.push_back(axis.inner);
    }
    return Done{};
  }
};

Legal<SumsInLanes> plan_reduction_in_lanes(const Draft& draft, const double&) {
  const ReductionForm& form = draft.reduction;
  const ReductionView view(draft);
  SumsInLanes made;
  made.axes = fmt::format("terms along {}", explained_name(draft, form.reduced.back()));
  for (size_t i = form.spatial.size(); i-- > 0 && made.shared.size() < 2;) {
    const uint32_t loop = form.spatial[i];
    if (!view.has_invariant_operand(loop) || draft.tree.loop(loop).extent.is_constant(1)) continue;
    made.shared.push_back(loop);
    made.axes += fmt::format(", sums along {} together", explained_name(draft, loop));
  }
  if (made.shared.size() == 2 && draft.target->vector_registers < kFewRegisters) made.size = kSharedSumsOfFew;
  return made;
}

}  // namespace

std::span<const Strategy> reduction_in_lanes_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "reduction_in_lanes",
               .stage = Stage::kLanes,
               .priority = 10,
               .doc = "The axis of the sum is in vector lanes, where only it is contiguous in the operands; elements "
                      "of the result that share loads are computed together. Changes the order of the sum.",
               .propose = propose<match_reduction_in_lanes, reduction_in_lanes_cycles, plan_reduction_in_lanes>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
