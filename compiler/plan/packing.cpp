// packing.cpp: dynamic storage allocation with known lifetimes.
//
// The problem is NP-hard, and first fit in a good order comes within a few percent of the bound on networks. Which
// order is good depends on the graph (large first for trees of convolutions, early first for chains), so several are
// tried and the lowest result is kept; a thousand buffers take milliseconds.
//
// Rows of layers that run in turns (--ram-budget) are live like the bricks of a wall that leans, which leaves gaps.
// Where more than a fiftieth is lost, each order is tried with the closest gap in place of the first one as well, and
// all of them are changed a hundred times: image classification of MLPerf Tiny takes 24,128 bytes in place of 26,176,
// at a bound of 22,592, and the search a tenth of a second.
//
// Results that may overlap an operand (`over`) tie neighbours together, and no order of whole rectangles knows which
// ties to use. There, two rectangles change places in the order some thousand times: image classification takes 46,080
// bytes in place of 51,328, and a packing up to a tenth of a second. A kernel whose buffers overlap takes up to 2% more
// instructions, so they only do if that saves a fiftieth of the memory.
//
// Conflicts are found by looking at one rectangle after the other, so that thousands which are all live at one time
// (branches that end in one concatenation) would take quadratic time. For these, the time is walked once in either
// direction, and gaps are kept by their size: n log n, and rarely far from the bound.
//
// Rejected: graph colouring with one size a colour (a large buffer is never shared by two small ones), and an integer
// program. Reference: Pisarchyk & Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020.
#include "compiler/plan/packing.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <utility>

namespace relaxc::plan {
namespace {

using Order = std::vector<size_t>;

/// Which rectangles meet in time, found once for all attempts to place them.
class Meetings {
 public:
  /// `pairs`: how many pairs of `all` meet.
  Meetings(const std::vector<Rectangle>& all, size_t pairs) {
    Order begins(all.size());
    std::iota(begins.begin(), begins.end(), size_t{0});
    std::sort(begins.begin(), begins.end(), [&](size_t a, size_t b) { return all[a].first < all[b].first; });
    std::vector<std::pair<uint32_t, uint32_t>> found;
    found.reserve(pairs);
    Order live;
    for (size_t id : begins) {
      std::erase_if(live, [&](size_t other) { return all[other].last < all[id].first; });
      for (size_t other : live) found.emplace_back(static_cast<uint32_t>(id), static_cast<uint32_t>(other));
      live.push_back(id);
    }
    begin_.assign(all.size() + 1, 0);
    for (auto [a, b] : found) ++begin_[a + 1], ++begin_[b + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    ids_.resize(2 * found.size());
    std::vector<size_t> next(begin_.begin(), begin_.end() - 1);
    for (auto [a, b] : found) ids_[next[a]++] = b, ids_[next[b]++] = a;
  }

  std::span<const uint32_t> of(size_t id) const {
    return std::span(ids_).subspan(begin_[id], begin_[id + 1] - begin_[id]);
  }

 private:
  std::vector<size_t> begin_;  ///< of each rectangle, where in `ids_` its own are
  std::vector<uint32_t> ids_;
};

/// Returns where `other`, which begins at `begin`, is in the way of `id`: `id` must end before the first of the two or
/// begin behind the second. If one may overlap the other, they do not have their ends in common with the rectangle.
std::pair<int64_t, int64_t> in_the_way(const std::vector<Rectangle>& all, size_t id, size_t other, int64_t begin) {
  const Rectangle &mine = all[id], &its = all[other];
  const int64_t end = begin + its.size;
  const bool over = mine.over == static_cast<int>(other), under = its.over == static_cast<int>(id);
  if (!over && !under) return {begin, end};
  const int64_t distance = over ? mine.distance : its.distance;
  const bool before = over ? !mine.behind : its.behind;  // whether `id` is the lower one where they overlap
  if (before) return {std::max(begin, begin - distance + mine.size), end};
  return {begin, std::min(end, begin + distance)};
}

/// Which of the gaps that have room a rectangle takes.
enum class Fit : uint8_t { kFirst, kClosest };

/// Puts each rectangle, in this order, into a gap beside those placed before.
Packing place(const std::vector<Rectangle>& all, const Meetings& meetings, const Order& order, Fit fit) {
  constexpr int64_t kNotYet = -1;
  Packing result;
  result.offsets.assign(all.size(), kNotYet);
  std::vector<std::pair<int64_t, int64_t>> others;  // where the placed ones that it meets begin and end
  for (size_t id : order) {
    const int64_t size = all[id].size;
    others.clear();
    for (uint32_t other : meetings.of(id))
      if (const int64_t begin = result.offsets[other]; begin != kNotYet)
        others.push_back(in_the_way(all, id, other, begin));
    std::sort(others.begin(), others.end());
    int64_t end = 0, closest = INT64_MAX;  // where the next gap begins, length of the gap that is taken
    int64_t at = 0;
    for (auto [other_begin, other_end] : others) {
      const int64_t gap = other_begin - end;
      if (gap >= size && gap < closest) closest = gap, at = end;
      if (closest != INT64_MAX && fit == Fit::kFirst) break;
      end = std::max(end, other_end);
    }
    if (closest == INT64_MAX) at = end;
    result.offsets[id] = at;
    result.height = std::max(result.height, at + size);
  }
  return result;
}

/// The free memory between allocated parts; the last gap has no end.
class Gaps {
 public:
  Gaps() { add(0, INT64_MAX); }

  /// Allocates `size` bytes in the smallest gap that has room, and returns where they start.
  int64_t take(int64_t size) {
    auto [length, begin] = *by_size_.lower_bound({size, 0});
    remove(begins_.find(begin));
    if (length > size) add(begin + size, length - size);
    return begin;
  }

  void give_back(int64_t begin, int64_t size) {
    auto next = begins_.lower_bound(begin);
    if (next != begins_.end() && next->first == begin + size) {
      size += next->second;
      next = remove(next);
    }
    if (next != begins_.begin())
      if (auto before = std::prev(next); before->first + before->second == begin) {
        begin = before->first, size += before->second;
        remove(before);
      }
    add(begin, size);
  }

 private:
  using ByBegin = std::map<int64_t, int64_t>;
  void add(int64_t begin, int64_t size) {
    begins_[begin] = size;
    by_size_.emplace(size, begin);
  }
  ByBegin::iterator remove(ByBegin::iterator gap) {
    by_size_.erase({gap->second, gap->first});
    return begins_.erase(gap);
  }

  ByBegin begins_;  ///< sizes of gaps, by where they begin
  std::set<std::pair<int64_t, int64_t>> by_size_;
};

/// Allocates rectangles in the order in which they begin, and frees those that have ended.
Packing best_fit_in_time(const std::vector<Rectangle>& all) {
  Order begins(all.size());
  std::iota(begins.begin(), begins.end(), size_t{0});
  Order ends = begins;
  std::stable_sort(begins.begin(), begins.end(), [&](size_t a, size_t b) {
    return std::pair(all[a].first, -all[a].size) < std::pair(all[b].first, -all[b].size);
  });
  std::stable_sort(ends.begin(), ends.end(), [&](size_t a, size_t b) { return all[a].last < all[b].last; });
  Packing result;
  result.offsets.assign(all.size(), 0);
  Gaps gaps;
  auto ended = ends.begin();
  for (size_t id : begins) {
    for (; all[*ended].last < all[id].first; ++ended)
      if (all[*ended].size > 0) gaps.give_back(result.offsets[*ended], all[*ended].size);
    if (all[id].size > 0) result.offsets[id] = gaps.take(all[id].size);
    result.height = std::max(result.height, result.offsets[id] + all[id].size);
  }
  return result;
}

/// Returns the lower packing of the two directions of time.
Packing pack_in_time(const std::vector<Rectangle>& all) {
  std::vector<Rectangle> mirrored = all;
  for (Rectangle& r : mirrored) r.first = UINT32_MAX - std::exchange(r.last, UINT32_MAX - r.first);
  Packing forward = best_fit_in_time(all), backward = best_fit_in_time(mirrored);
  return forward.height <= backward.height ? forward : backward;
}

/// Returns the number of pairs of rectangles that meet in time.
size_t count_meetings(const std::vector<Rectangle>& all) {
  std::vector<uint32_t> begins, ends;
  for (const Rectangle& r : all) begins.push_back(r.first), ends.push_back(r.last);
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  size_t pairs = 0, ended = 0;
  for (size_t begun = 0; begun < begins.size(); ++begun) {
    while (ends[ended] < begins[begun]) ++ended;
    pairs += begun - ended;
  }
  return pairs;
}

int64_t duration(const Rectangle& r) {
  return static_cast<int64_t>(r.last) - r.first + 1;
}

/// Returns the largest sum of sizes that are live at one time: no packing is lower. One that may overlap another counts
/// from the time after, or not at all.
int64_t bound(const std::vector<Rectangle>& all) {
  std::vector<std::pair<uint64_t, int64_t>> changes;
  for (const Rectangle& r : all) {
    const uint64_t first = uint64_t{r.first} + (r.over >= 0 ? 1 : 0);
    if (first > r.last) continue;
    changes.emplace_back(first * 2 + 1, r.size);
    changes.emplace_back(uint64_t{r.last} * 2 + 2, -r.size);  // even numbers: ends come before what begins next
  }
  std::sort(changes.begin(), changes.end());
  int64_t now = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, now += change);
  return most;
}

/// Repeats `place` while that may gain: a rectangle that reaches the top is placed first in the next attempt.
void improve(const std::vector<Rectangle>& all, const Meetings& meetings, Packing now, Fit fit, size_t attempts,
             int64_t low, Packing& best) {
  Order order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return now.offsets[a] < now.offsets[b]; });
  for (; attempts > 0 && best.height > low; --attempts) {
    auto top = std::find_if(order.begin(), order.end(),
                            [&](size_t id) { return now.offsets[id] + all[id].size == now.height; });
    if (top == order.begin() || top == order.end()) return;
    std::rotate(order.begin(), top, top + 1);
    now = place(all, meetings, order, fit);
    if (now.height < best.height) best = now;
  }
}

/// Exchanges two rectangles of the order that gave `best`, again and again, and keeps what is no higher.
void exchange(const std::vector<Rectangle>& all, const Meetings& meetings, size_t attempts, int64_t low,
              Packing& best) {
  Order order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return best.offsets[a] < best.offsets[b]; });
  int64_t height = INT64_MAX;
  std::mt19937 random(1);  // the same numbers each time, so that the same input gives the same bytes
  for (; attempts > 0 && best.height > low; --attempts) {
    const size_t a = random() % order.size(), b = random() % order.size();
    std::swap(order[a], order[b]);
    Packing now = place(all, meetings, order, Fit::kFirst);
    if (now.height > height) {
      std::swap(order[a], order[b]);
      continue;
    }
    height = now.height;
    if (height < best.height) best = std::move(now);
  }
}

/// Returns orders that are good for some graphs, each by another property and then by size.
std::vector<Order> orders_of(const std::vector<Rectangle>& all) {
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
  std::vector<Order> orders;
  for (Before before : kOrders) {
    orders.push_back(by_size);
    std::stable_sort(orders.back().begin(), orders.back().end(),
                     [&](size_t a, size_t b) { return before(all[a], all[b]); });
  }
  return orders;
}

constexpr int64_t kLossWorthMore = 50;  ///< one part in this many

Packing pack_once(const std::vector<Rectangle>& all) {
  constexpr size_t kMostMeetings = 1 << 19;  // a thousand rectangles that all meet: 50 ms per order
  constexpr size_t kMostWork = 5'000'000;    // steps of `place` over all attempts that begin with the lowest packing
  constexpr size_t kMostWorkOfOrder = 1'000'000;  // the same for each of ten others
  constexpr size_t kMostWorkOfExchanges = 2'000'000;
  constexpr size_t kMostAttempts = 100;
  const size_t pairs = count_meetings(all);
  if (pairs > kMostMeetings) return pack_in_time(all);
  const Meetings meetings(all, pairs);
  const int64_t low = bound(all);
  const std::vector<Order> orders = orders_of(all);
  Packing best;
  for (const Order& order : orders) {
    Packing next = place(all, meetings, order, Fit::kFirst);
    if (best.offsets.empty() || next.height < best.height) best = std::move(next);
    if (best.height <= low) return best;
  }
  const auto attempts = [&](size_t work) { return std::min(kMostAttempts, work / (all.size() + pairs + 1)); };
  improve(all, meetings, best, Fit::kFirst, attempts(kMostWork), low, best);
  for (Fit fit : {Fit::kFirst, Fit::kClosest})
    for (const Order& order : orders)
      if (best.height - low > low / kLossWorthMore)
        improve(all, meetings, place(all, meetings, order, fit), fit, attempts(kMostWorkOfOrder), low, best);
  const bool overlaps = std::any_of(all.begin(), all.end(), [](const Rectangle& r) { return r.over >= 0; });
  if (overlaps) exchange(all, meetings, kMostWorkOfExchanges / (all.size() + pairs + 1), low, best);
  return best;
}

}  // namespace

Packing pack(const std::vector<Rectangle>& all) {
  std::vector<Rectangle> apart = all;
  for (Rectangle& r : apart) r.over = -1;
  Packing without = pack_once(apart);
  if (std::all_of(all.begin(), all.end(), [](const Rectangle& r) { return r.over < 0; })) return without;
  Packing with = pack_once(all);
  return without.height - with.height > without.height / kLossWorthMore ? with : without;
}

}  // namespace relaxc::plan
