// extremes.cpp: see extremes.h.
#include "compiler/proof/kernels/extremes.h"

#include <algorithm>

namespace relaxc::proof {

uint32_t Extremes::add(const Set& set) {
  if (sets_.size() >= kLimit) {
    over_limit_ = true;
    return 0;
  }
  sets_.push_back(set);
  return static_cast<uint32_t>(sets_.size() - 1);
}

uint32_t Extremes::join(uint32_t a, uint32_t b) {
  if (a == b || b == 0) return a;
  return a == 0 ? b : add({.first = a, .second = b});
}

std::pair<uint64_t, uint64_t> Extremes::sums(const Residues& residues, uint32_t set) {
  if (sets_[set].summed) return {sets_[set].x, sets_[set].y};
  std::vector<std::pair<uint64_t, uint64_t>> operands;
  std::vector<uint32_t> open{set};
  ++visits_;
  while (!open.empty()) {
    Set& here = sets_[open.back()];
    open.pop_back();
    if (std::exchange(here.visit, visits_) == visits_) continue;
    if (here.first == 0)
      operands.emplace_back(here.x, here.y);
    else
      open.push_back(here.first), open.push_back(here.second);
  }
  std::sort(operands.begin(), operands.end());
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  Set& whole = sets_[set];
  for (const auto& [x, y] : operands) whole.x = residues.add_x(whole.x, x), whole.y = residues.add_y(whole.y, y);
  whole.summed = true;
  return {whole.x, whole.y};
}

}  // namespace relaxc::proof
