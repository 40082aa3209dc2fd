// index_widths_test.cpp: which index values 32 bits hold, against all values that loops give them.
#include "compiler/tir/index_widths.h"

#include <catch2/catch.hpp>

#include <random>

#include "compiler/arith/simplify.h"
#include "compiler/tir/builder.h"

using namespace relaxc;
using namespace relaxc::tir;
using arith::Range;

namespace {

struct Widths {
  Context context;
  Builder b{context};
  Var i = context.var("i"), j = context.var("j"), n = context.var("n");
  BufferRef out = b.buffer("out", DType::i(64), {b.index(1)});

  Stmt loop(Var var, Expr extent, Stmt body) { return b.loop(var, b.index(0), extent, body); }

  /// A kernel that stores `value` for each i below `outer` and each j below `inner`.
  PrimFunc kernel(Expr value, Expr outer, Expr inner, std::vector<Range> ranges = {}) {
    PrimFunc f;
    f.name = "f";
    f.params = {{out, {}}, {nullptr, n}};
    f.checks.ranges = std::move(ranges);
    Stmt store = b.store(out, {b.index(0)}, arith::cast(DType::i(64), value));
    f.body = loop(i, outer, loop(j, inner, store));
    return f;
  }
};

}  // namespace

TEST_CASE_METHOD(Widths, "an index is narrow up to the last value that 32 bits hold") {
  auto narrow = [&](Expr value, int64_t outer) {
    return IndexWidths(kernel(value, b.index(outer), b.index(4))).is_narrow(value);
  };
  CHECK(narrow(i * 4 + j, 1 << 29));
  CHECK(!narrow(i * 4 + j + 1, 1 << 29));
  CHECK(narrow(i * -4, (1 << 29) + 1));
  CHECK(!narrow(i * -4 - 1, (1 << 29) + 1));
  CHECK(narrow(arith::floormod(i * 3000000000, 1000), 10));
  CHECK(!narrow(i * 3000000000, 10));
}

TEST_CASE_METHOD(Widths, "a loop's counter is narrow if its end is, too") {
  auto narrow = [&](Expr extent, std::vector<Range> ranges) {
    PrimFunc f = kernel(i, extent, b.index(1), std::move(ranges));
    IndexWidths widths(f);
    return widths.is_narrow(*f.body.as<For>());
  };
  CHECK(narrow(b.index(INT32_MAX), {}));
  CHECK(!narrow(b.index(int64_t{INT32_MAX} + 1), {}));
  CHECK(!narrow(n, {}));
  CHECK(!narrow(n, {Range::at_least(0)}));
  CHECK(narrow(n, {{0, 1000}}));
  CHECK(!narrow(n * 4000000, {{0, 1000}}));
}

TEST_CASE_METHOD(Widths, "the axis of a block is what it is bound to") {
  PrimFunc f = kernel(j, b.index(100000), b.index(100000));
  Var axis = context.var("axis");
  Block block;
  block.iters = {{axis, b.index(0), b.index(100000), IterKind::kSpatial, i * 50000 + j}};
  block.body = b.store(out, {b.index(0)}, arith::cast(DType::i(64), axis));
  f.body = loop(i, b.index(100000), loop(j, b.index(10), b.block(block)));
  CHECK(!IndexWidths(f).is_narrow(axis));
  f.body = loop(i, b.index(40000), loop(j, b.index(10), b.block(block)));
  CHECK(IndexWidths(f).is_narrow(axis));
}

TEST_CASE_METHOD(Widths, "a variable that two loops bind has the range of both, also where the first one used it") {
  PrimFunc f = kernel(i, b.index(1), b.index(1));
  Stmt store = b.store(out, {b.index(0)}, arith::cast(DType::i(64), i * 100000));
  f.body = b.seq({loop(i, b.index(10), store), loop(i, b.index(100000), store)});
  IndexWidths widths(f);
  CHECK(!widths.is_narrow(i * 100000));
  CHECK(widths.is_narrow(i * 10000));
}

TEST_CASE_METHOD(Widths, "functions that leave with a status keep 64 bits") {
  PrimFunc f = kernel(i, b.index(4), b.index(4));
  CHECK(may_have_narrow_indices(f));
  Guard guard;
  guard.condition = arith::lt(n, b.index(5)), guard.code = 3;
  f.body = b.seq({b.guard(guard), f.body});
  CHECK(!may_have_narrow_indices(f));
}

TEST_CASE_METHOD(Widths, "ranges hold every value") {
  std::mt19937 random(5);
  auto pick = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint64_t>(most)); };
  for (int round = 0; round < 300; ++round) {
    const int64_t outer = 1 + pick(6), inner = 1 + pick(6);
    std::vector<Expr> known{i, j, b.index(pick(200000) - 100000), b.index(1 + pick(9))};
    for (int step = 0; step < 6; ++step) {
      Expr x = known[static_cast<size_t>(pick(static_cast<int64_t>(known.size())))];
      Expr y = known[static_cast<size_t>(pick(static_cast<int64_t>(known.size())))];
      const int64_t kind = pick(6);
      known.push_back(kind == 0   ? x + y
                      : kind == 1 ? x - y
                      : kind == 2 ? x * y
                      : kind == 3 ? arith::floordiv(x, 1 + pick(9))
                      : kind == 4 ? arith::min(x, y)
                                  : arith::floormod(x, 1 + pick(9)));
    }
    const Expr value = known.back();
    IndexWidths widths(kernel(value, b.index(outer), b.index(inner)));
    if (!widths.is_narrow(value)) continue;
    for (int64_t a = 0; a < outer; ++a)
      for (int64_t c = 0; c < inner; ++c) {
        const Expr at = arith::substitute(value, {{i, b.index(a)}, {j, b.index(c)}});
        const int64_t* found = arith::simplify(at).constant();
        REQUIRE(found != nullptr);
        CHECK((*found >= INT32_MIN && *found <= INT32_MAX));
      }
  }
}
