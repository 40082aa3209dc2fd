// order.cpp: a beam search among topological orders, under a budget that shrinks.
//
// The problem: which tensors are live at one time depends on the order of independent kernels, and the order of the
// file is a matter of habit. Two branches with small results are best run one after the other, each to its end; a file
// that interleaves them holds both. Finding the best order is NP-hard.
//
// The method: breadth first over sets of steps that have run, of which only the few with the least memory are kept.
// States that would reach the peak of the best order so far are dropped, so every order that is found is better than
// the last, and the search ends soon if nothing can be gained. A step within the budget that leaves no more memory live
// than it found is taken without alternatives: it can only help later steps. Most programs are not searched at all,
// since their peak is what a single step touches.
//
// Rejected: greedy list scheduling alone (it opens every branch before it ends one), and the exact search over all sets
// (exponential in the number of branches). Reference: Ahn et al., "Ordering Chaos: Memory-Aware Scheduling of
// Irregularly Wired Neural Networks for Edge Devices", 2020, which keeps all sets.
#include "compiler/plan/order.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace relaxc::plan {
namespace {

constexpr size_t kKept = 16;           ///< sets of steps that are kept of each size
constexpr size_t kMostWork = 1000000;  ///< limit of the search: steps that are tried, and numbers that are copied

uint64_t spread(uint64_t x) {
  x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

class Search {
 public:
  Search(const std::vector<Step>& steps, const std::vector<Memory>& memories)
      : steps_(steps), memories_(memories), touched_by_(memories.size()), before_(steps.size()) {
    for (uint32_t s = 0; s < steps.size(); ++s) {
      for (uint32_t memory : steps[s].touches) ++touched_by_[memory];
      for (uint32_t other : steps[s].after) before_[other].push_back(s);
    }
  }

  /// The state after some steps have run.
  struct State {
    uint64_t key = 0;  ///< a hash of the set of steps that have run
    int64_t live = 0;
    std::vector<uint32_t> waits_for, left;  ///< steps that a step waits for; steps left that touch a memory
    std::vector<uint32_t> ready;
    size_t trail = 0;  ///< index into trails_
  };

  State start() const {
    State state;
    state.left = touched_by_;
    for (const Memory& memory : memories_) state.live += memory.before ? memory.bytes : 0;
    for (uint32_t s = 0; s < steps_.size(); ++s) {
      state.waits_for.push_back(static_cast<uint32_t>(steps_[s].after.size()));
      if (steps_[s].after.empty()) state.ready.push_back(s);
    }
    return state;
  }

  struct Sums {
    int64_t during = 0, after = 0;
  };
  /// Returns the bytes that are live while and after `step` runs.
  Sums sums(const State& state, uint32_t step) const {
    int64_t begins = 0, ends = 0, taken = 0;
    for (uint32_t m : steps_[step].touches) {
      if (begins_now(state, m)) begins += memories_[m].bytes;
      if (ends_now(state, m)) ends += memories_[m].bytes;
    }
    for (auto [from, to] : steps_[step].in_place)
      if (taken == 0 && ends_now(state, from) && begins_now(state, to)) taken = memories_[to].bytes;
    return {state.live + begins - taken, state.live + begins - ends};
  }

  State run(State state, uint32_t step) const {
    state.live = sums(state, step).after;
    state.key ^= spread(step);
    for (uint32_t m : steps_[step].touches) --state.left[m];
    std::erase(state.ready, step);
    for (uint32_t next : before_[step])
      if (--state.waits_for[next] == 0) state.ready.push_back(next);
    return state;
  }

  /// Returns a lower bound on the peak of every order: the most that one step touches.
  int64_t least() const {
    int64_t most = 0;
    for (const Step& step : steps_) {
      int64_t sum = 0, taken = 0;
      for (uint32_t m : step.touches) sum += memories_[m].bytes;
      for (auto [from, to] : step.in_place) taken = std::max(taken, memories_[to].bytes);
      most = std::max(most, sum - taken);
    }
    return most;
  }

  /// Returns an order with a peak below `budget`; nothing if the search does not find one.
  std::optional<std::vector<uint32_t>> below(int64_t budget) {
    trails_.assign(1, {});
    std::vector<State> states{start()};
    for (size_t done = 0; done < steps_.size(); ++done) {
      states = next(states, budget);
      if (states.empty() || work_ > kMostWork) return {};
    }
    std::vector<uint32_t> order;
    for (size_t at = states.front().trail; at != 0; at = trails_[at].before) order.push_back(trails_[at].step);
    std::reverse(order.begin(), order.end());
    return order;
  }

 private:
  struct Trail {
    size_t before = 0;
    uint32_t step = 0;
  };
  struct Choice {
    int64_t live;
    size_t state;
    uint32_t step;
  };

  bool begins_now(const State& state, uint32_t m) const {
    return state.left[m] == touched_by_[m] && !memories_[m].before;
  }
  bool ends_now(const State& state, uint32_t m) const { return state.left[m] == 1 && !memories_[m].after; }

  std::vector<State> next(const std::vector<State>& states, int64_t budget) {
    std::vector<Choice> choices;
    for (size_t i = 0; i < states.size(); ++i) {
      size_t first = choices.size();
      for (uint32_t step : states[i].ready) {
        Sums with = sums(states[i], step);
        ++work_;
        if (with.during >= budget) continue;
        bool surely = with.after <= states[i].live;
        if (surely) choices.resize(first);
        choices.push_back({with.after, i, step});
        if (surely) break;
      }
    }
    std::stable_sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) { return a.live < b.live; });
    std::vector<State> made;
    std::set<uint64_t> seen;
    for (const Choice& choice : choices) {
      if (made.size() == kKept) break;
      const State& from = states[choice.state];
      if (!seen.insert(from.key ^ spread(choice.step)).second) continue;
      trails_.push_back({from.trail, choice.step});
      work_ += steps_.size() + memories_.size();
      made.push_back(run(from, choice.step));
      made.back().trail = trails_.size() - 1;
    }
    return made;
  }

  const std::vector<Step>& steps_;
  const std::vector<Memory>& memories_;
  std::vector<uint32_t> touched_by_;           ///< the number of steps that touch each memory
  std::vector<std::vector<uint32_t>> before_;  ///< the steps that wait for each step
  std::vector<Trail> trails_;
  size_t work_ = 0;
};

}  // namespace

int64_t peak_of(const std::vector<Step>& steps, const std::vector<Memory>& memories,
                const std::vector<uint32_t>& order) {
  Search search(steps, memories);
  Search::State state = search.start();
  int64_t most = state.live;
  for (uint32_t step : order) {
    most = std::max(most, search.sums(state, step).during);
    state = search.run(std::move(state), step);
  }
  return most;
}

std::optional<std::vector<uint32_t>> find_lower_order(const std::vector<Step>& steps,
                                                      const std::vector<Memory>& memories) {
  std::vector<uint32_t> as_written(steps.size());
  std::iota(as_written.begin(), as_written.end(), 0U);
  Search search(steps, memories);
  std::optional<std::vector<uint32_t>> best;
  for (int64_t peak = peak_of(steps, memories, as_written); peak > search.least();) {
    std::optional<std::vector<uint32_t>> lower = search.below(peak);
    if (!lower) break;
    peak = peak_of(steps, memories, *lower);
    best = std::move(lower);
  }
  return best;
}

}  // namespace relaxc::plan
