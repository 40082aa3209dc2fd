// packing.cpp: dynamic storage allocation with known lifetimes.
//
// The problem is NP-hard, and first fit in a good order comes within a few percent of the bound on networks. Which
// order is good depends on the graph (large first for trees of convolutions, early first for chains), so several are
// tried and the lowest result is kept; a thousand buffers take milliseconds.
//
// Rejected: graph colouring with one size a colour (a large buffer is never shared by two small ones), and an integer
// program. Reference: Pisarchyk & Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020.
#include "compiler/plan/packing.h"

#include <algorithm>
#include <numeric>

namespace relaxc::plan {
namespace {

using Order = std::vector<size_t>;

/// Puts each rectangle at the lowest offset where it fits beside those placed before.
Packing first_fit(const std::vector<Rectangle>& all, const Order& order) {
  Packing result;
  result.offsets.assign(all.size(), 0);
  Order placed;  // by offset
  for (size_t id : order) {
    const Rectangle& piece = all[id];
    int64_t at = 0;
    for (size_t other : placed) {
      if (all[other].last < piece.first || piece.last < all[other].first) continue;
      if (result.offsets[other] - at >= piece.size) break;
      at = std::max(at, result.offsets[other] + all[other].size);
    }
    result.offsets[id] = at;
    result.height = std::max(result.height, at + piece.size);
    auto after = [&](int64_t offset, size_t other) { return offset < result.offsets[other]; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), at, after), id);
  }
  return result;
}

int64_t duration(const Rectangle& r) {
  return static_cast<int64_t>(r.last) - r.first + 1;
}

/// The largest sum that is needed at one time: no packing is lower.
int64_t bound(const std::vector<Rectangle>& all) {
  std::vector<std::pair<uint64_t, int64_t>> changes;
  for (const Rectangle& r : all) {
    changes.emplace_back(uint64_t{r.first} * 2 + 1, r.size);
    changes.emplace_back(uint64_t{r.last} * 2 + 2, -r.size);  // even numbers: what ends, before what begins next
  }
  std::sort(changes.begin(), changes.end());
  int64_t now = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, now += change);
  return most;
}

/// While there is something to gain: whatever reaches the top is placed first in the next attempt.
void improve(const std::vector<Rectangle>& all, Packing& best) {
  constexpr size_t kMostWork = 5'000'000;  // steps of first_fit over all attempts
  int64_t low = bound(all);
  Order order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return best.offsets[a] < best.offsets[b]; });
  size_t attempts = std::min<size_t>(100, kMostWork / (all.size() * all.size() + 1));
  for (Packing now = best; attempts > 0 && best.height > low; --attempts) {
    auto top = std::find_if(order.begin(), order.end(),
                            [&](size_t id) { return now.offsets[id] + all[id].size == now.height; });
    if (top == order.begin() || top == order.end()) return;
    std::rotate(order.begin(), top, top + 1);
    now = first_fit(all, order);
    if (now.height < best.height) best = now;
  }
}

}  // namespace

Packing pack(const std::vector<Rectangle>& all) {
  using Before = bool (*)(const Rectangle&, const Rectangle&);
  constexpr Before kOrders[] = {
      [](const Rectangle& a, const Rectangle& b) { return a.size > b.size; },
      [](const Rectangle& a, const Rectangle& b) { return a.first < b.first; },
      [](const Rectangle& a, const Rectangle& b) { return a.last > b.last; },
      [](const Rectangle& a, const Rectangle& b) { return duration(a) > duration(b); },
      [](const Rectangle& a, const Rectangle& b) {
        return static_cast<double>(a.size) * static_cast<double>(duration(a)) >
               static_cast<double>(b.size) * static_cast<double>(duration(b));
      },
  };
  Order by_size(all.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(), [&](size_t a, size_t b) { return all[a].size > all[b].size; });
  Packing best;
  for (Before before : kOrders) {
    Order order = by_size;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return before(all[a], all[b]); });
    Packing next = first_fit(all, order);
    if (best.offsets.empty() || next.height < best.height) best = std::move(next);
  }
  improve(all, best);
  return best;
}

}  // namespace relaxc::plan
