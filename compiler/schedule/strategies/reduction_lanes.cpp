// reduction_lanes.cpp: sums along an axis that is contiguous in the operands: their terms go into lanes.
#include "compiler/schedule/strategies/reduction.h"

#include <algorithm>
#include <bit>

#include "compiler/schedule/primitives/jam.h"
#include "compiler/schedule/primitives/reassociate.h"
#include "compiler/schedule/primitives/reduce_in_lanes.h"
#include "compiler/schedule/primitives/unroll.h"

namespace relaxc::schedule {
namespace {

constexpr int64_t kSharedSums = 4;       ///< along an axis whose elements share loads
constexpr int64_t kSharedSumsOfFew = 3;  ///< the same along two axes, with so few registers that 4 x 4 spill
constexpr int32_t kFewRegisters = 32;    ///< fewer are few

}  // namespace

Legal<bool> Reduction::reduce_lanes() {
  if (!spatial_.empty()) RELAXC_LEGAL(contract_results());
  RELAXC_LEGAL(apply(s_, Reassociate{block_}));
  std::vector<uint32_t> shared;  // innermost first
  for (size_t i = spatial_.size(); i-- > 0 && shared.size() < 2;)
    if (some_operand_stays(spatial_[i]) && !s_.loop(spatial_[i]).extent.is_constant(1)) shared.push_back(spatial_[i]);
  int64_t size = shared.size() == 2 && target_.vector_registers < kFewRegisters ? kSharedSumsOfFew : kSharedSums;
  std::vector<LanePart> parts{{block_, reduced_.back(), 1}};
  std::vector<uint32_t> unrolled;
  for (uint32_t loop : shared) {
    std::vector<LanePart> inner = std::move(parts);
    std::vector<uint32_t> inner_unrolled = std::move(unrolled);
    parts.clear(), unrolled.clear();
    RELAXC_STEP(const std::vector<AxisPart> axes, cut_axis(s_, loop, size));
    for (const AxisPart& axis : axes) {
      auto here = [](const std::map<uint32_t, uint32_t>& copies, uint32_t id) {
        auto copy = copies.find(id);
        return copy == copies.end() ? id : copy->second;
      };
      int64_t times = axis.inner == 0 ? 1 : *s_.loop(axis.inner).extent.constant();
      for (const LanePart& part : inner)
        parts.push_back(
            {here(axis.copies.blocks, part.block), here(axis.copies.loops, part.loop), part.elements * times});
      for (uint32_t one : inner_unrolled) unrolled.push_back(here(axis.copies.loops, one));
      if (axis.inner != 0) unrolled.push_back(axis.inner);
    }
  }
  for (const LanePart& part : parts)
    RELAXC_LEGAL(apply(s_, ReduceInLanes{part.block, part.loop, lane_count(part), lanes_, target_.has_fma}));
  for (uint32_t loop : unrolled) {
    RELAXC_LEGAL(apply(s_, Unroll{loop}));
    RELAXC_LEGAL(apply(s_, Jam{loop}));
  }
  return true;
}

int64_t Reduction::lane_count(const LanePart& part) const {
  // Lanes are halved step by step at the end.
  const auto hidden = std::bit_floor(static_cast<uint64_t>(target_.fma_latency) / static_cast<uint64_t>(part.elements));
  int64_t wide = lanes_ * std::max<int64_t>(1, static_cast<int64_t>(hidden));
  const int64_t* extent = s_.loop(part.loop).extent.constant();
  while (extent != nullptr && wide > lanes_ && *extent < wide) wide /= 2;
  return wide;
}

bool Reduction::some_operand_stays(uint32_t loop) const {
  auto along = operands_along(loop);
  bool stays = false;
  for_each_access(s_.loop(reduced_[0]).body, [&](const Access& access) {
    if (access.buffer->scope == tir::Scope::kLocal || access.buffer == store().buffer) return;
    stays |= std::find(along.begin(), along.end(), access.buffer) == along.end();
  });
  return stays;
}

}  // namespace relaxc::schedule
