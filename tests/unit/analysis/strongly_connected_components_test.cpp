// Circles: against the transitive closure on small random graphs, and in bounded stack on long ones.
#include "compiler/analysis/strongly_connected_components.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

namespace relaxc::analysis {
namespace {

using Graph = std::vector<std::vector<size_t>>;

/// reaches[a][b]: a path of one edge or more leads from a to b (Warshall 1962).
std::vector<std::vector<bool>> closure(const Graph& next) {
  std::vector<std::vector<bool>> reaches(next.size(), std::vector<bool>(next.size()));
  for (size_t a = 0; a < next.size(); ++a)
    for (size_t b : next[a]) reaches[a][b] = true;
  for (size_t via = 0; via < next.size(); ++via)
    for (size_t a = 0; a < next.size(); ++a)
      for (size_t b = 0; b < next.size(); ++b)
        if (reaches[a][via] && reaches[via][b]) reaches[a][b] = true;
  return reaches;
}

/// The part of every node; each node is in exactly one.
std::vector<size_t> part_of(const std::vector<std::vector<size_t>>& parts, size_t nodes) {
  std::vector<size_t> part(nodes, parts.size());
  for (size_t p = 0; p < parts.size(); ++p)
    for (size_t member : parts[p]) {
      REQUIRE(part.at(member) == parts.size());
      part[member] = p;
    }
  REQUIRE(std::count(part.begin(), part.end(), parts.size()) == 0);
  return part;
}

TEST_CASE("nodes are in one component if they reach each other, after those that they reach") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 500; ++trial) {
    Graph next(1 + random() % 12);
    for (std::vector<size_t>& edges : next)
      for (size_t count = random() % 4; count > 0; --count) edges.push_back(random() % next.size());
    std::vector<std::vector<size_t>> parts = strongly_connected_components(next);
    std::vector<size_t> part = part_of(parts, next.size());
    auto reaches = closure(next);
    for (size_t a = 0; a < next.size(); ++a)
      for (size_t b = 0; b < next.size(); ++b) {
        if (a != b) CHECK((part[a] == part[b]) == (reaches[a][b] && reaches[b][a]));
        if (reaches[a][b]) CHECK(part[b] <= part[a]);
      }
    for (const std::vector<size_t>& members : parts) CHECK(std::is_sorted(members.begin(), members.end()));
  }
}

TEST_CASE("chains and cycles of a million nodes are walked without recursion") {
  Graph next(1'000'000);
  for (size_t i = 0; i + 1 < next.size(); ++i) next[i] = {i + 1};
  std::vector<std::vector<size_t>> chain = strongly_connected_components(next);
  REQUIRE(chain.size() == next.size());
  CHECK(chain.front() == std::vector<size_t>{next.size() - 1});
  next.back() = {0};
  CHECK(strongly_connected_components(next).size() == 1);
}

TEST_CASE("an empty graph has no components") {
  CHECK(strongly_connected_components({}).empty());
}

}  // namespace
}  // namespace relaxc::analysis
