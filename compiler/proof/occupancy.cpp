// occupancy.cpp: data-flow analysis over steps, forwards for uses before a step and backwards for uses after it.
//
// The state at a step is a set of tensors. Sets only grow, until nothing changes; that takes a round per nested loop.
//
// Rejected: intervals of statement numbers. A planner uses these, and a loop or a branch that it handles wrongly could
// be handled wrongly here as well.
#include "compiler/proof/occupancy.h"

#include <algorithm>

namespace relaxc::proof {
namespace {

using Set = std::vector<bool>;

/// Adds `more` to `set`; returns whether that changed it.
bool unite(Set& set, const Set& more) {
  bool changed = false;
  for (size_t i = 0; i < set.size(); ++i)
    if (more[i] && !set[i]) set[i] = changed = true;
  return changed;
}

class Flow {
 public:
  Flow(const std::vector<Step>& steps, size_t tensors)
      : steps_(steps), before_(steps.size(), Set(tensors)), after_(steps.size(), Set(tensors)) {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < steps_.size(); ++i) {
        Set left = before_[i];
        for (size_t tensor : steps_[i].begins) left[tensor] = false;
        for (size_t tensor : steps_[i].touches) left[tensor] = true;
        for (size_t next : steps_[i].next) changed |= unite(before_[next], left);
      }
      for (size_t i = steps_.size(); i-- > 0;)
        for (size_t next : steps_[i].next) changed |= unite(after_[i], needed_from(next));
    }
  }

  /// Return whether a path to the step uses the tensor before it, and whether a path from the step uses it after it.
  bool touched_before(size_t step, size_t tensor) const { return before_[step][tensor]; }
  bool needed_after(size_t step, size_t tensor) const { return after_[step][tensor]; }

  std::vector<size_t> present(size_t step) const {
    Set set = before_[step];
    for (size_t i = 0; i < set.size(); ++i) set[i] = set[i] && after_[step][i];
    for (size_t tensor : steps_[step].begins) set[tensor] = false;
    for (size_t tensor : steps_[step].touches) set[tensor] = true;
    std::vector<size_t> list;
    for (size_t i = 0; i < set.size(); ++i)
      if (set[i]) list.push_back(i);
    return list;
  }

 private:
  Set needed_from(size_t step) const {
    Set needed = after_[step];
    for (size_t tensor : steps_[step].touches) needed[tensor] = true;
    for (size_t tensor : steps_[step].begins) needed[tensor] = false;
    return needed;
  }

  const std::vector<Step>& steps_;
  std::vector<Set> before_, after_;
};

}  // namespace

Occupancy occupancy(const std::vector<Step>& steps, size_t tensors) {
  Flow flow(steps, tensors);
  Occupancy found;
  for (size_t at = 0; at < steps.size(); ++at) {
    std::set<std::pair<size_t, size_t>> apart;
    for (auto [from, to] : steps[at].in_place) {
      if (from == to || flow.needed_after(at, from) || flow.touched_before(at, to)) continue;
      apart.insert(std::minmax(from, to));
      found.shared.emplace(from, to);
    }
    const std::vector<size_t> present = flow.present(at);
    for (size_t i = 0; i < present.size(); ++i)
      for (size_t k = i + 1; k < present.size(); ++k)
        if (apart.count({present[i], present[k]}) == 0) found.together.emplace(present[i], present[k]);
  }
  return found;
}

}  // namespace relaxc::proof
