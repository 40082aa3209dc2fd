// lazy.cpp: derives guards from the roots down. A node with several users is needed if one of them is.
#include "compiler/tir/lazy.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "compiler/arith/visit.h"

namespace relaxc::tir {

using namespace arith;

namespace {

constexpr int kAlways = -1;

class Walk {
 public:
  explicit Walk(const std::vector<Expr>& roots) {
    for (Expr root : roots) ways_[root].push_back({kAlways, {}, true});
  }

  /// Finds the guard of a node and adds the ways to its operands. All users of the node must be visited before.
  void visit(Expr e) {
    const int guard = resolve(std::move(ways_[e]));
    if (guard != kAlways) result_.guard_of[e] = guard;
    auto reach = [&](Expr operand, Expr condition, bool holds) { ways_[operand].push_back({guard, condition, holds}); };
    if (const auto* select = e.as<Select>()) {
      reach(select->condition, {}, true);
      reach(select->then_value, select->condition, true);
      reach(select->else_value, select->condition, false);
    } else if (const auto* both = e.as<And>()) {
      reach(both->a, {}, true);
      reach(both->b, both->a, true);
    } else if (const auto* either = e.as<Or>()) {
      reach(either->a, {}, true);
      reach(either->b, either->a, false);
    } else {
      for (Expr operand : operands(e)) reach(operand, {}, true);
    }
  }

  LazyNodes take() { return std::move(result_); }

 private:
  /// The guard for nodes that are computed if any of `ways` is taken; kAlways if they are computed in all cases.
  int resolve(std::vector<Way> ways) {
    std::vector<Way> distinct;
    for (Way way : ways)
      if (!add(distinct, way)) return kAlways;
    if (distinct.size() == 1 && !distinct[0].condition) return distinct[0].from;
    std::vector<std::tuple<int, const Node*, bool>> key;
    for (const Way& way : distinct) key.emplace_back(way.from, way.condition.node(), way.holds);
    auto [known, is_new] = numbers_.emplace(std::move(key), static_cast<int>(result_.guards.size()));
    if (is_new) result_.guards.push_back(std::move(distinct));
    return known->second;
  }

  /// Adds a way to those of a node; false if the node is always computed.
  bool add(std::vector<Way>& ways, Way way) {
    if (std::optional<Way> only = only_way(way)) way = *only;
    if (is_always(way)) return false;
    if (std::any_of(ways.begin(), ways.end(), [&](const Way& known) { return leads_through(way, known); })) return true;
    std::erase_if(ways, [&](const Way& known) { return leads_through(known, way); });
    Way other{way.from, way.condition, !way.holds};
    auto complement = std::find(ways.begin(), ways.end(), other);
    if (!way.condition || complement == ways.end()) {
      ways.push_back(way);
      return true;
    }
    ways.erase(complement);
    return add(ways, {way.from, {}, true});
  }

  static bool is_always(const Way& way) { return way.from == kAlways && !way.condition; }

  /// The only way through the guard that `way` follows, if `way` adds no condition and the guard has one way.
  std::optional<Way> only_way(const Way& way) const {
    if (way.condition || way.from == kAlways || result_.guards[way.from].size() != 1) return std::nullopt;
    return result_.guards[way.from].front();
  }

  /// Whether `way` can only be taken after `through`.
  bool leads_through(Way way, const Way& through) const {
    for (;;) {
      if (way == through) return true;
      if (way.from == kAlways) return false;
      if (way.condition) {
        way = {way.from, {}, true};
      } else if (std::optional<Way> only = only_way(way)) {
        way = *only;
      } else {
        return false;
      }
    }
  }

  std::unordered_map<Expr, std::vector<Way>> ways_;
  std::map<std::vector<std::tuple<int, const Node*, bool>>, int> numbers_;
  LazyNodes result_;
};

/// For each node of `order`, and then for each guard, what must be known before: indices of nodes, then of guards.
std::vector<std::vector<size_t>> needs_of_guards(const LazyNodes& lazy, const std::vector<Expr>& order,
                                                 const std::function<bool(Expr)>& wait) {
  const size_t nodes = order.size();
  std::unordered_map<Expr, size_t> place;
  std::vector<std::vector<size_t>> needs(nodes + lazy.guards.size());
  for (size_t i = 0; i < nodes; ++i) {
    place[order[i]] = i;
    for (Expr operand : operands(order[i])) needs[i].push_back(place.at(operand));
    auto guard = lazy.guard_of.find(order[i]);
    if (guard != lazy.guard_of.end() && wait(order[i])) needs[i].push_back(nodes + static_cast<size_t>(guard->second));
  }
  for (size_t i = 0; i < lazy.guards.size(); ++i)
    for (const Way& way : lazy.guards[i]) {
      if (way.from != kAlways) needs[nodes + i].push_back(nodes + static_cast<size_t>(way.from));
      if (way.condition) needs[nodes + i].push_back(place.at(way.condition));
    }
  return needs;
}

}  // namespace

bool guards_come_first(const LazyNodes& lazy, const std::vector<Expr>& order, const std::function<bool(Expr)>& wait) {
  const std::vector<std::vector<size_t>> needs = needs_of_guards(lazy, order, wait);
  std::vector<size_t> users(needs.size()), ready;  // users that have no place in the order yet
  for (const std::vector<size_t>& list : needs)
    for (size_t need : list) ++users[need];
  for (size_t i = 0; i < needs.size(); ++i)
    if (users[i] == 0) ready.push_back(i);
  for (size_t done = 0; done < ready.size(); ++done)
    for (size_t need : needs[ready[done]])
      if (--users[need] == 0) ready.push_back(need);
  return ready.size() == needs.size();
}

LazyNodes lazy_nodes(const std::vector<Expr>& roots, const std::vector<Expr>& order) {
  bool chooses = std::any_of(order.begin(), order.end(), [](Expr e) {
    return e.as<Select>() != nullptr || e.as<And>() != nullptr || e.as<Or>() != nullptr;
  });
  if (!chooses) return {};
  Walk walk(roots);
  for (auto e = order.rbegin(); e != order.rend(); ++e) walk.visit(*e);
  return walk.take();
}

}  // namespace relaxc::tir
