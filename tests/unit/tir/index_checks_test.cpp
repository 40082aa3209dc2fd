// index_checks_test.cpp: which index arithmetic needs a check, against all values at the ends of its ranges.
#include "compiler/tir/index_checks.h"

#include <catch2/catch.hpp>

#include <random>

#include "compiler/tir/builder.h"
#include "compiler/tir/verify.h"

using namespace relaxc;
using namespace relaxc::tir;
using arith::Range;

namespace {

struct Checking {
  Context context;
  Builder b{context};
  Var n = context.var("n"), m = context.var("m");
  BufferRef arena = b.buffer("arena", DType::u(8), {b.index(16)}), out = b.buffer("out", DType::i(64), {b.index(1)});

  /// A function with an arena that stores `value`.
  PrimFunc host(Expr value, std::vector<Range> ranges, int32_t code) {
    PrimFunc f;
    f.name = "f";
    f.params = {{out, {}}, {arena, {}}, {nullptr, n}, {nullptr, m}};
    f.host.arena = 1;
    f.checks.ranges = std::move(ranges), f.checks.overflow_code = code;
    f.body = b.store(out, {b.index(0)}, arith::cast(DType::i(64), value));
    return f;
  }
};

}  // namespace

TEST_CASE_METHOD(Checking, "a host function that may overflow unseen is ill-formed") {
  using Catch::Contains;
  CHECK_THAT(first_fault(host(n * m, {}, 0)), Contains("checked_index"));
  CHECK_THAT(first_fault(host(n + m, {Range::at_least(0), Range::at_least(0)}, 0)), Contains("checked_index"));
  CHECK_THAT(first_fault(host(n - m, {{}, {}}, 0)), Contains("checked_index"));
  CHECK(first_fault(host(n * m, {}, 40)).empty());
  CHECK(first_fault(host(n * m, {{1, 1024}, {0, 9007199254740991}}, 0)).empty());
  CHECK_THAT(first_fault(host(n * m, {{1, 1024}, {0, 9007199254740992}}, 0)), Contains("checked_index"));
  CHECK(first_fault(host(n - m, {Range::at_least(0), Range::at_least(0)}, 0)).empty());
  CHECK(first_fault(host(n, {}, 0)).empty());
}

TEST_CASE_METHOD(Checking, "a view at an offset that may overflow is refused, too") {
  PrimFunc f = host(n, {}, 0);
  BufferRef seen = b.buffer("seen", DType::u(8), {b.index(1)});
  f.body = b.view(seen, arena, n * 64, b.store(seen, {b.index(0)}, context.zero(DType::u(8))));
  CHECK(!first_fault(f).empty());
  f.checks.ranges = {{0, 12}, {}};
  CHECK(first_fault(f).empty());
}

TEST_CASE_METHOD(Checking, "what a guard says behind a let bounds what follows") {
  PrimFunc f = host(n, {}, 0);
  Var size = context.var("size");
  auto with = [&](std::vector<Stmt> guards) {
    guards.push_back(b.store(out, {b.index(0)}, arith::cast(DType::i(64), size * 1000)));
    f.body = b.let(size, arith::cast(DType::index(), b.load(out, {b.index(0)})), b.seq(guards));
    return first_fault(f).empty();
  };
  auto guard = [&](Expr condition) {
    Guard record;
    record.condition = condition, record.code = 40;
    return b.guard(record);
  };
  CHECK(!with({}));
  CHECK(!with({guard(arith::le(size, b.index(1000)))}));
  CHECK(with({guard(arith::le(size, b.index(1000))), guard(arith::ge(size, b.index(0)))}));
}

TEST_CASE_METHOD(Checking, "ranges are those of all values that do not overflow") {
  std::mt19937 random(17);
  const std::vector<int64_t> ends = {INT64_MIN,        INT64_MIN + 1,    -(int64_t{1} << 32), -7,       -1, 0, 1, 5,
                                     int64_t{1} << 31, int64_t{1} << 33, INT64_MAX - 1,       INT64_MAX};
  size_t open = 0, closed = 0;
  for (int round = 0; round < 4000; ++round) {
    auto pick = [&] {
      int64_t x = ends[random() % ends.size()], y = ends[random() % ends.size()];
      return Range{std::min(x, y), std::max(x, y)};
    };
    Range of_n = pick(), of_m = pick();
    const int kind = static_cast<int>(random() % 3);
    Expr e = kind == 0 ? n + m : kind == 1 ? n - m : n * m;
    IndexRanges ranges(std::unordered_map<Expr, Range>{{n, of_n}, {m, of_m}});
    bool some = false, all = true;
    for (int64_t x : {of_n.lower, of_n.upper})
      for (int64_t y : {of_m.lower, of_m.upper}) {
        int64_t value = 0;
        bool over = kind == 0   ? __builtin_add_overflow(x, y, &value)
                    : kind == 1 ? __builtin_sub_overflow(x, y, &value)
                                : __builtin_mul_overflow(x, y, &value);
        some |= over, all &= over;
      }
    REQUIRE(ranges.fits(e) == !some);
    if (ranges.never_fits(e)) REQUIRE(all);
    some ? ++open : ++closed;
  }
  CHECK(open > 500);
  CHECK(closed > 500);
}

TEST_CASE_METHOD(Checking, "a size that was computed bounds its dims") {
  std::unordered_map<Expr, Range> ranges{{n, Range::at_least(0)}, {m, Range::at_least(0)}};
  CHECK(most_that_fits(n * 1024, n, ranges) == INT64_MAX / 1024);
  CHECK(most_that_fits(n * 1024 + arith::min(n, b.index(1)) * 64, n, ranges) == INT64_MAX / 1024);
  CHECK(most_that_fits(n * m, n, ranges) == INT64_MAX);
  ranges[m] = {8, 16};
  CHECK(most_that_fits(n * m, n, ranges) == INT64_MAX / 8);
  CHECK(most_that_fits(b.index(64), n, ranges) == INT64_MAX);
  for (int i = 0; i < 50000; ++i) ranges[context.var("v")] = Range::at_least(0);
  CHECK(most_that_fits(n * 3000, n, ranges) >= INT64_MAX / 3000);
  CHECK(most_that_fits(n * 3000, n, ranges) < INT64_MAX / 1000);
}
