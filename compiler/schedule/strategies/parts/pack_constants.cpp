// pack_constants.cpp: see pack_constants.h.
#include "compiler/schedule/strategies/parts/pack_constants.h"

#include <algorithm>

#include "compiler/schedule/primitives/pack.h"
#include "compiler/schedule/strategies/parts/reduction_view.h"

namespace relaxc::schedule {
namespace {

/// The next constant that is not packed yet; its buffer is null if there is none. Panels of one element only reorder
/// the axes, which is done if `in_order` is set, and for words, which must be packed.
Pack next_packing(const Draft& draft, uint32_t loop, int64_t panel, bool in_order,
                  const std::vector<BufferRef>& packed) {
  const ReductionView view(draft);
  const std::vector<uint32_t>& reduced = draft.reduction.reduced;
  Pack step{};
  std::vector<std::pair<std::ptrdiff_t, size_t>> others;  // axes of the reduction come last, in the order of its loops
  for_each_access(view.summed(), [&](const Access& access) {
    const auto axis = view.packable_axis(access, view.var(loop));
    const bool done = std::find(packed.begin(), packed.end(), access.buffer) != packed.end();
    if (!axis || step.buffer != nullptr || access.indices.size() < 2 || done) return;
    if (panel < 2 && !in_order && view.original(access.buffer) != draft.reduction.words) return;
    step.buffer = access.buffer, step.axis = static_cast<int64_t>(*axis), step.panel = panel;
    for (size_t i = 0; i < access.indices.size(); ++i) {
      const auto at = std::find_if(reduced.begin(), reduced.end(),
                                   [&](uint32_t id) { return depends_on(access.indices[i], view.var(id)); });
      if (i != *axis) others.push_back({at == reduced.end() ? -1 : at - reduced.begin(), i});
    }
  });
  std::sort(others.begin(), others.end());
  for (const auto& [position, i] : others) step.order.push_back(static_cast<int64_t>(i));
  return step;
}

Legal<> pack_all(Draft& draft, uint32_t loop, int64_t panel, bool in_order, std::vector<BufferRef>& packed) {
  while (panel >= 1) {
    const Pack step = next_packing(draft, loop, panel, in_order, packed);
    if (step.buffer == nullptr) break;
    RELAXC_STEP(const BufferRef made, apply(draft.tree, step));
    packed.push_back(made);
  }
  return Done{};
}

}  // namespace

Legal<> pack_along(Draft& draft, uint32_t loop, int64_t panel, std::vector<BufferRef>& packed) {
  return pack_all(draft, loop, panel, false, packed);
}

Legal<> pack_in_order(Draft& draft, uint32_t loop, std::vector<BufferRef>& packed) {
  return pack_all(draft, loop, 1, true, packed);
}

std::vector<Pack> packings_along(const Draft& draft, uint32_t loop, int64_t panel) {
  std::vector<Pack> steps;
  std::vector<BufferRef> seen;
  for (;;) {
    const Pack step = next_packing(draft, loop, panel, false, seen);
    if (step.buffer == nullptr) return steps;
    seen.push_back(step.buffer);
    steps.push_back(step);
  }
}

}  // namespace relaxc::schedule
