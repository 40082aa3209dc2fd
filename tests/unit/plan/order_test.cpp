// Orders: what the search returns is an order that the steps allow, is lower than what was, and is often the lowest.
#include "compiler/plan/order.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

namespace relaxc::plan {
namespace {

struct Graph {
  std::vector<Step> steps;
  std::vector<Memory> memories;
};

std::vector<uint32_t> as_written(const Graph& graph) {
  std::vector<uint32_t> order(graph.steps.size());
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

/// Each step reads what some earlier ones made, and makes a memory with its own number.
Graph random_graph(std::mt19937& random, uint32_t size) {
  Graph graph;
  for (uint32_t s = 0; s < size; ++s) {
    Step step;
    for (uint32_t k = random() % 3; s > 0 && k > 0; --k) {
      uint32_t other = random() % s;
      if (std::find(step.after.begin(), step.after.end(), other) == step.after.end()) step.after.push_back(other);
    }
    step.touches = step.after;
    step.touches.push_back(s);
    graph.steps.push_back(std::move(step));
    graph.memories.push_back({static_cast<int64_t>(1 + random() % 50), false, random() % 10 == 0});
  }
  return graph;
}

bool allowed(const Graph& graph, const std::vector<uint32_t>& order) {
  std::vector<bool> done(graph.steps.size());
  for (uint32_t s : order) {
    for (uint32_t before : graph.steps[s].after)
      if (!done[before]) return false;
    done[s] = true;
  }
  return order.size() == graph.steps.size() && std::all_of(done.begin(), done.end(), [](bool one) { return one; });
}

/// By its definition, memory by memory.
int64_t peak_by_definition(const Graph& graph, const std::vector<uint32_t>& order) {
  std::vector<int64_t> live(order.size());
  for (uint32_t m = 0; m < graph.memories.size(); ++m) {
    size_t first = order.size(), last = 0;
    for (size_t at = 0; at < order.size(); ++at) {
      const std::vector<uint32_t>& touches = graph.steps[order[at]].touches;
      if (std::find(touches.begin(), touches.end(), m) == touches.end()) continue;
      first = std::min(first, at), last = at;
    }
    if (graph.memories[m].before) first = 0;
    if (graph.memories[m].after) last = order.size() - 1;
    for (size_t at = first; at <= last && at < order.size(); ++at) live[at] += graph.memories[m].bytes;
  }
  return *std::max_element(live.begin(), live.end());
}

int64_t lowest_of_all(const Graph& graph) {
  std::vector<uint32_t> order = as_written(graph);
  int64_t least = INT64_MAX;
  do {
    if (allowed(graph, order)) least = std::min(least, peak_by_definition(graph, order));
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

TEST_CASE("the new order is one that the steps allow, and has a lower peak") {
  std::mt19937 random(5);
  int found = 0, lowest = 0, rounds = 60;
  for (int round = 0; round < rounds; ++round) {
    Graph graph = random_graph(random, 7);
    int64_t before = peak_of(graph.steps, graph.memories, as_written(graph));
    REQUIRE(before == peak_by_definition(graph, as_written(graph)));
    auto order = find_lower_order(graph.steps, graph.memories);
    int64_t after = before;
    if (order) {
      ++found;
      REQUIRE(allowed(graph, *order));
      after = peak_by_definition(graph, *order);
      REQUIRE(after < before);
      REQUIRE(after == peak_of(graph.steps, graph.memories, *order));
    }
    lowest += after == lowest_of_all(graph);
  }
  CHECK(found > rounds / 4);
  CHECK(lowest == rounds);  // graphs so small are searched in full
}

TEST_CASE("branches run one after the other") {
  // Sixty branches written level by level: each makes 100, shrinks it to 1, and a last step reads all of them.
  constexpr uint32_t kWidth = 60;
  Graph graph;
  for (uint32_t i = 0; i < kWidth; ++i) graph.steps.push_back({{}, {i}, {}});
  for (uint32_t i = 0; i < kWidth; ++i) graph.steps.push_back({{i}, {i, kWidth + i}, {}});
  Step last;
  for (uint32_t i = 0; i < kWidth; ++i) last.after.push_back(kWidth + i), last.touches.push_back(kWidth + i);
  graph.steps.push_back(last);
  graph.memories.resize(kWidth, {100});
  graph.memories.resize(size_t{2} * kWidth, {1});
  CHECK(peak_of(graph.steps, graph.memories, as_written(graph)) == 100 * kWidth + 1);
  auto order = find_lower_order(graph.steps, graph.memories);
  REQUIRE(order);
  CHECK(peak_of(graph.steps, graph.memories, *order) == 100 + kWidth);
}

TEST_CASE("a step that overwrites its operand needs one of the two") {
  Graph graph{{{{}, {0}, {}}, {{0}, {0, 1}, {{0, 1}}}}, {{8}, {8, false, true}}};
  CHECK(peak_of(graph.steps, graph.memories, {0, 1}) == 8);
  graph.memories[0].after = true;  // somebody else reads it later
  CHECK(peak_of(graph.steps, graph.memories, {0, 1}) == 16);
}

}  // namespace
}  // namespace relaxc::plan
