// Pools: what is moved most for its size lies there, fits, and overlaps nothing that is needed with it.
#include "compiler/plan/pools.h"

#include <catch2/catch.hpp>
#include <random>

namespace relaxc::plan {
namespace {

Piece piece(int64_t bytes, uint32_t first, uint32_t last) {
  return {{bytes, {}}, first, last};
}

TEST_CASE("a pool takes the most moves a byte, not the largest buffer") {
  Context context;
  arith::Facts facts;
  std::vector<Piece> pieces{piece(1024, 0, 9), piece(256, 0, 9), piece(512, 0, 9)};
  Pooled pooled = assign_pools(context, pieces, {4096, 2560, 512}, {300}, facts);
  CHECK(pooled.pools == std::vector<int>{-1, 0, -1});
  CHECK(pooled.bytes == std::vector<int64_t>{256});
  pooled = assign_pools(context, pieces, {4096, 2560, 512}, {300, 1024}, facts);
  CHECK(pooled.pools == std::vector<int>{1, 0, -1});
}

TEST_CASE("pieces of other times share a pool, and what is never moved stays out") {
  Context context;
  arith::Facts facts;
  std::vector<Piece> pieces{piece(128, 0, 3), piece(128, 4, 9), piece(64, 0, 9)};
  Pooled pooled = assign_pools(context, pieces, {128, 256, 0}, {128}, facts);
  CHECK(pooled.pools == std::vector<int>{0, 0, -1});
  CHECK(pooled.offsets == std::vector<int64_t>{0, 0, 0});
  CHECK(pooled.bytes == std::vector<int64_t>{128});
}

TEST_CASE("a size with a symbol counts by its bound") {
  Context context;
  arith::Facts facts;
  arith::Var n = context.var("n"), free = context.var("free");
  facts.bound(n, {0, 8});
  facts.bound(free, arith::Range::at_least(0));
  std::vector<Piece> pieces{{size_of(context, {n}, 16), 0, 1}, {size_of(context, {free}, 16), 0, 1}};
  Pooled pooled = assign_pools(context, pieces, {1000, 100000}, {128}, facts);
  CHECK(pooled.pools == std::vector<int>{0, -1});
  CHECK(pooled.bytes == std::vector<int64_t>{128});
}

TEST_CASE("whatever is in a pool fits and overlaps nothing of its time") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Context context;
    arith::Facts facts;
    std::vector<Piece> pieces;
    std::vector<double> traffic;
    for (size_t i = 0; i < 20; ++i) {
      auto first = static_cast<uint32_t>(random() % 20);
      pieces.push_back(piece(1 + random() % 700, first, first + random() % 5));
      traffic.push_back(static_cast<double>(random() % 5000));
    }
    const std::vector<int64_t> sizes{512, 1000};
    Pooled pooled = assign_pools(context, pieces, traffic, sizes, facts);
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (pooled.pools[i] < 0) continue;
      int64_t end = pooled.offsets[i] + pieces[i].size.coefficient;
      REQUIRE(pooled.offsets[i] % pieces[i].alignment == 0);
      REQUIRE(end <= pooled.bytes[static_cast<size_t>(pooled.pools[i])]);
      REQUIRE(pooled.bytes[static_cast<size_t>(pooled.pools[i])] <= sizes[static_cast<size_t>(pooled.pools[i])]);
      for (size_t k = 0; k < i; ++k)
        if (pooled.pools[k] == pooled.pools[i] && pieces[k].meets(pieces[i]))
          REQUIRE((end <= pooled.offsets[k] || pooled.offsets[k] + pieces[k].size.coefficient <= pooled.offsets[i]));
    }
  }
}

}  // namespace
}  // namespace relaxc::plan
