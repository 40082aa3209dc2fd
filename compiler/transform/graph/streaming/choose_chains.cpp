// choose_chains.cpp: finds a shortest path over the places where a block can be cut.
//
// Between two cuts is one stage as a whole, or a chain that streams at some pace. The memory around it does not depend
// on other cuts, so the cheapest path to each cut is found from those before it: with all edges that fit the budget,
// or, if no path does, by the largest edge of a path first. Rows are tried as powers of two and halves between them:
// rows in between would save less than the error of the estimated memory.
#include "compiler/transform/graph/streaming/choose_chains.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace relaxc::streaming {

namespace {

constexpr int64_t kRowsOfRun[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};

int64_t bytes_of(const relax::Value& value) {
  const auto* tensor = value.info->as<relax::TensorInfo>();
  if (tensor == nullptr || !tensor->shape || !tensor->dtype) return 0;
  int64_t bytes = (tensor->dtype->bits + 7) / 8;
  for (arith::Expr dim : *tensor->shape)
    if (dim.constant() == nullptr || __builtin_mul_overflow(bytes, *dim.constant(), &bytes)) return 0;
  return bytes;
}

struct Edge {
  size_t from = 0, to = 0;
  Pace pace = {0, false};  ///< no rows: a stage as a whole
  int64_t bytes = 0;
  double cycles = 0;
};

/// The best path to a cut that was found so far.
struct Way {
  int64_t bytes = std::numeric_limits<int64_t>::max();  ///< bytes of the largest edge on the path
  double cycles = 0;
  const Edge* last = nullptr;
  bool found = false;
};

class Search {
 public:
  explicit Search(const Stages& stages) : stages_(stages) {}

  std::vector<ChosenChain> run(int64_t budget) {
    list_edges();
    std::vector<Way> ways = find_ways(
        budget, [](const Way& a, const Way& b) { return std::tie(a.cycles, a.bytes) < std::tie(b.cycles, b.bytes); });
    if (!ways.back().found)
      ways = find_ways(std::numeric_limits<int64_t>::max(), [](const Way& a, const Way& b) {
        return std::tie(a.bytes, a.cycles) < std::tie(b.bytes, b.cycles);
      });
    std::vector<ChosenChain> chosen;
    for (size_t at = stages_.size(); at > 0; at = ways[at].last->from)
      if (const Edge& edge = *ways[at].last; edge.pace.rows > 0) chosen.push_back({{edge.from, edge.to}, edge.pace});
    std::reverse(chosen.begin(), chosen.end());
    return chosen;
  }

 private:
  void list_edges() {
    for (size_t from = 0; from < stages_.size(); ++from) {
      edges_.push_back({from, from + 1, {0, false}, around({from, from + 1}), 0});
      for (size_t to = from + 2; to <= stages_.size(); ++to) {
        const Chain chain{from, to};
        if (!can_stream(stages_, chain)) break;
        const int64_t outside = around(chain);
        for (int64_t rows : kRowsOfRun)
          for (bool scaled : {false, true}) {
            if (rows >= stages_[to - 1].rows) break;
            const Pace pace{rows, scaled};
            const ChainCost cost = cost_of(stages_, chain, RowSchedule(stages_, chain, pace));
            edges_.push_back({from, to, pace, outside + cost.bytes, cost.cycles});
          }
      }
    }
  }

  /// Returns the bytes of values that are made before the chain and read in it or after it, and of its own values that
  /// are read after it. The caller owns the memory of what the function returns.
  int64_t around(Chain chain) const {
    int64_t bytes = 0;
    for (size_t i = 0; i < chain.end; ++i) {
      const bool kept_whole = i < chain.begin || chain.end - chain.begin == 1;
      if (stages_[i].last_user < static_cast<int64_t>(kept_whole ? chain.begin : chain.end)) continue;
      if (stages_[i].last_user == std::numeric_limits<int64_t>::max()) continue;
      for (const relax::Value* value : stages_[i].results) bytes += bytes_of(*value);
    }
    return bytes;
  }

  template <typename Better>
  std::vector<Way> find_ways(int64_t budget, Better better) const {
    std::vector<Way> ways(stages_.size() + 1);
    ways[0] = {0, 0, nullptr, true};
    for (const Edge& edge : edges_) {  // sorted by where they begin, so that the path to there is known
      const Way& before = ways[edge.from];
      if (!before.found || edge.bytes > budget) continue;
      const Way way{std::max(before.bytes, edge.bytes), before.cycles + edge.cycles, &edge, true};
      if (!ways[edge.to].found || better(way, ways[edge.to])) ways[edge.to] = way;
    }
    return ways;
  }

  const Stages& stages_;
  std::vector<Edge> edges_;
};

}  // namespace

std::vector<ChosenChain> choose_chains(const Stages& stages, int64_t budget) {
  return stages.size() == 0 ? std::vector<ChosenChain>() : Search(stages).run(budget);
}

}  // namespace relaxc::streaming
