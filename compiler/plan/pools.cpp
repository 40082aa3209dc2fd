// pools.cpp: fills tightly coupled memories, and the memories behind them.
//
// The problem: a microcontroller has a few kilobytes that answer in one cycle and many that take ten. Which buffers are
// in the fast ones decides how long a model takes, and no linker script can split the contents of one arena.
//
// The method: a byte of fast memory saves time with every access to it, so pieces compete by traffic for each byte of
// their size, and a pool takes them greedily, each at the lowest offset where it fits beside those that are needed at
// the same time. Pools are filled in the order in which they are named, and the rest is planned as if there were none.
//
// Rejected: the knapsack over time that would be optimal. It is exponential, and gains at most the gap at the end of a
// pool that the greedy choice by density leaves.
#include "compiler/plan/pools.h"

#include <algorithm>
#include <numeric>

namespace relaxc::plan {
namespace {

/// Returns for each piece the bytes moved per byte of its size, at typical values of the symbols.
std::vector<double> densities(Context& context, const std::vector<Piece>& pieces, const std::vector<double>& traffic,
                              const arith::Facts& facts) {
  std::vector<double> densities;
  arith::Evaluation at_typical([&](arith::Var var) { return typical(facts, var); });
  for (size_t i = 0; i < pieces.size(); ++i) {
    int64_t bytes = at_typical.of(to_expr(context, pieces[i].size)).value_or(INT64_MAX);
    densities.push_back(traffic[i] / static_cast<double>(std::max<int64_t>(bytes, 1)));
  }
  return densities;
}

/// A piece in a pool: the bytes from `begin` to `end`, rounded up to whole lines.
struct Taken {
  size_t piece = 0;
  int64_t begin = 0, end = 0;
};

/// Returns the lowest offset of `bytes` bytes that overlap none of those in `taken` that `piece` meets in time.
int64_t lowest(const std::vector<Piece>& pieces, const Piece& piece, int64_t bytes, const std::vector<Taken>& taken) {
  std::vector<Taken> beside;
  for (const Taken& other : taken)
    if (piece.meets(pieces[other.piece])) beside.push_back(other);
  std::sort(beside.begin(), beside.end(), [](const Taken& a, const Taken& b) { return a.begin < b.begin; });
  int64_t at = 0;
  for (const Taken& other : beside) {
    if (at + bytes <= other.begin) break;
    at = std::max(at, other.end);
  }
  return at;
}

}  // namespace

Pooled assign_pools(Context& context, const std::vector<Piece>& pieces, const std::vector<double>& traffic,
                    const std::vector<int64_t>& pools, const arith::Facts& facts) {
  Pooled pooled{std::vector<int>(pieces.size(), -1), std::vector<int64_t>(pieces.size()),
                std::vector<int64_t>(pools.size())};
  if (pools.empty()) return pooled;
  const std::vector<double> density = densities(context, pieces, traffic, facts);
  std::vector<size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return density[a] > density[b]; });
  for (size_t pool = 0; pool < pools.size(); ++pool) {
    std::vector<Taken> taken;
    for (size_t i : order) {
      arith::Range size = arith::bounds(to_expr(context, pieces[i].size), facts);
      if (pooled.pools[i] >= 0 || traffic[i] == 0 || !size.has_upper() || size.upper > pools[pool]) continue;
      int64_t at = lowest(pieces, pieces[i], size.upper, taken);
      if (at > pools[pool] - size.upper) continue;
      taken.push_back({i, at, (at + size.upper + kAlignment - 1) / kAlignment * kAlignment});
      pooled.pools[i] = static_cast<int>(pool);
      pooled.offsets[i] = at;
      pooled.bytes[pool] = std::max(pooled.bytes[pool], at + size.upper);
    }
  }
  return pooled;
}

}  // namespace relaxc::plan
