// reduction_packing.cpp: constants of a reduction in panels as wide as its tile, one behind the other as it reads them.
#include "compiler/schedule/reduction.h"

#include <algorithm>

namespace relaxc::schedule {

bool Reduction::is_packable(BufferRef buffer) const {
  const auto& constants = group_.constants;
  return buffer == words_ || std::find(constants.begin(), constants.end(), buffer) != constants.end();
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
  return words_ == nullptr || std::any_of(packed_.begin(), packed_.end(),
                                          [&](const PackedParam& one) { return one.param == words_of_.buffer; });
}

void Reduction::pack_along(uint32_t loop, int64_t panel) {
  if (panel < 2) return;
  while (pack_next(loop, panel)) {
  }
}

bool Reduction::pack_next(uint32_t loop, int64_t panel) {
  Var var = s_.loop(loop).var;
  std::optional<PackedParam> found;
  for_each_access(s_.loop(reduced_[0]).body, [&](const Access& access) {
    auto axis = packable_axis(access, var);
    if (!axis || found || access.indices.size() < 2 || is_packed(access.buffer)) return;
    found = PackedParam{original(access.buffer), access.buffer, {{}, *axis, panel, {}, -1}};
    if (access.buffer == words_) {
      found->param = words_of_.buffer;
      found->packing.words_axis = static_cast<int64_t>(words_of_.axis);
      found->packing.words_extent = words_of_.extent;
    }
    for (Expr dim : access.buffer->shape) found->packing.shape.push_back(*dim.constant());
    // Axes of the reduction come last, in the order of its loops.
    std::vector<std::pair<std::ptrdiff_t, size_t>> others;
    for (size_t i = 0; i < access.indices.size(); ++i) {
      auto at = std::find_if(reduced_.begin(), reduced_.end(),
                             [&](uint32_t id) { return depends_on(access.indices[i], s_.loop(id).var); });
      if (i != *axis) others.push_back({at == reduced_.end() ? -1 : at - reduced_.begin(), i});
    }
    std::sort(others.begin(), others.end());
    for (auto& [position, i] : others) found->packing.order.push_back(i);
  });
  if (!found) return false;
  found->packed = s_.pack(found->packed, found->packing);
  packed_.push_back(*found);
  return true;
}

bool Reduction::is_packed(BufferRef buffer) const {
  return std::any_of(packed_.begin(), packed_.end(), [&](const PackedParam& one) { return one.packed == buffer; });
}

}  // namespace relaxc::schedule
