// reduction_packing.cpp: constants of a reduction in panels as wide as its tile, one behind the other as it reads them.
#include "compiler/schedule/strategies/reduction.h"

#include <algorithm>

#include "compiler/schedule/primitives/pack.h"

namespace relaxc::schedule {

bool Reduction::is_packable(BufferRef buffer) const {
  return buffer == words_ || std::find(constants_.begin(), constants_.end(), buffer) != constants_.end();
}

std::optional<size_t> Reduction::packable_axis(const Access& access, Var var) const {
  BufferRef base = original(access.buffer);
  if (access.is_store || !is_packable(base)) return {};
  std::optional<size_t> axis;
  for (size_t i = 0; i < access.indices.size(); ++i) {
    if (access.buffer->shape[i].constant() == nullptr) return {};
    if (access.indices[i] == var)
      axis = i;
    else if (depends_on(access.indices[i], var))
      return {};
  }
  bool alone = true;
  for_each_access(s_.root(), [&](const Access& other) {
    if (original(other.buffer) == base) alone &= other.buffer == access.buffer && other.indices == access.indices;
  });
  return alone ? axis : std::nullopt;
}

bool Reduction::words_are_packed() const {
  const std::vector<PackedParam>& packed = s_.packed();
  return words_ == nullptr || std::any_of(packed.begin(), packed.end(),
                                          [&](const PackedParam& one) { return one.param == words_of_.buffer; });
}

Legal<> Reduction::pack_along(uint32_t loop, int64_t panel) {
  for (bool more = panel >= 2; more;) {
    RELAXC_STEP(more, pack_next(loop, panel));
  }
  return Done{};
}

Legal<bool> Reduction::pack_next(uint32_t loop, int64_t panel) {
  Var var = s_.loop(loop).var;
  BufferRef found = nullptr;
  size_t along = 0;
  std::vector<std::pair<std::ptrdiff_t, size_t>> others;  // axes of the reduction come last, in the order of its loops
  for_each_access(s_.loop(reduced_[0]).body, [&](const Access& access) {
    auto axis = packable_axis(access, var);
    if (!axis || found != nullptr || access.indices.size() < 2 || is_packed(access.buffer)) return;
    found = access.buffer, along = *axis;
    for (size_t i = 0; i < access.indices.size(); ++i) {
      auto at = std::find_if(reduced_.begin(), reduced_.end(),
                             [&](uint32_t id) { return depends_on(access.indices[i], s_.loop(id).var); });
      if (i != *axis) others.push_back({at == reduced_.end() ? -1 : at - reduced_.begin(), i});
    }
  });
  if (found == nullptr) return false;
  std::sort(others.begin(), others.end());
  std::vector<int64_t> order;
  for (const auto& [position, i] : others) order.push_back(static_cast<int64_t>(i));
  RELAXC_STEP(packed_.emplace_back(), apply(s_, Pack{found, static_cast<int64_t>(along), panel, order}));
  return true;
}

bool Reduction::is_packed(BufferRef buffer) const {
  return std::find(packed_.begin(), packed_.end(), buffer) != packed_.end();
}

}  // namespace relaxc::schedule
