// interpreter_batch_test.cpp: loops that run in batches give what loops in C++ give, and loops that must not do not.
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "compiler/tir/builder.h"
#include "compiler/tir/evaluator.h"
#include "compiler/tir/interpreter_batch.h"

using namespace relaxc;
using namespace relaxc::tir;

namespace {

struct InBatches {
  arith::Context context;
  Builder b{context};
  DType f32 = DType::f(32), i32 = DType::i(32);

  BufferRef vector(const char* name, DType dtype, int64_t n) { return b.buffer(name, dtype, {b.index(n)}); }
  PrimFunc function(std::vector<BufferRef> params, Stmt body) {
    PrimFunc f;
    f.name = "f", f.body = body;
    for (BufferRef p : params) f.params.push_back({p, {}});
    collect_symbols(f);
    return f;
  }
  RunStatus run(const PrimFunc& f, std::vector<void*> buffers, std::vector<int64_t> scalars = {}) {
    return make_interpreter()->run(f, buffers, scalars);
  }
  /// How many loops of `f` can run in batches.
  size_t batched(const PrimFunc& f) {
    interpreter::Program program = interpreter::compile(f);
    size_t count = 0;
    for (const auto& plan : program.plans) count += plan != nullptr && plan->steady;
    return count;
  }
  Expr one(DType dtype) { return context.number(dtype, 1); }
};

std::vector<int32_t> counted(size_t n) {
  std::vector<int32_t> v(n);
  std::iota(v.begin(), v.end(), 1);
  return v;
}

TEST_CASE_METHOD(InBatches, "a padded convolution is batched over its columns") {
  constexpr int64_t kH = 9, kW = 300, kC = 3;
  BufferRef x = b.buffer("x", f32, {b.index(kC), b.index(kH), b.index(kW)});
  BufferRef w = b.buffer("w", f32, {b.index(kC), b.index(3), b.index(3)});
  BufferRef y = b.buffer("y", f32, {b.index(kH), b.index(kW)});
  Stmt body = b.reduce(y, {b.index(kC), b.index(3), b.index(3)}, context.zero(f32),
                       [&](Expr sum, const Indices& i, const Indices& r) {
                         Expr row = i[0] + r[1] - 1, column = i[1] + r[2] - 1, zero = b.index(0);
                         Expr inside = logical_and(logical_and(le(zero, row), lt(row, b.index(kH))),
                                                   logical_and(le(zero, column), lt(column, b.index(kW))));
                         Expr value = select(inside, b.load(x, {r[0], row, column}), context.zero(f32));
                         return sum + value * b.load(w, {r[0], r[1], r[2]});
                       });
  PrimFunc f = function({x, w, y}, body);
  CHECK(batched(f) >= 1);
  std::mt19937 random(1);
  std::vector<float> in(kC * kH * kW), weight(kC * 9), out(kH * kW, NAN), expected(kH * kW, 0);
  for (float& v : in) v = std::uniform_real_distribution<float>(-1, 1)(random);
  for (float& v : weight) v = std::uniform_real_distribution<float>(-1, 1)(random);
  for (int64_t r = 0; r < kH; ++r)
    for (int64_t c = 0; c < kW; ++c)
      for (int64_t k = 0; k < kC * 9; ++k) {
        int64_t row = r + k / 3 % 3 - 1, column = c + k % 3 - 1;
        bool inside = row >= 0 && row < kH && column >= 0 && column < kW;
        float value = inside ? in[static_cast<size_t>((k / 9 * kH + row) * kW + column)] : 0;
        float product = value * weight[static_cast<size_t>(k)];
        expected[static_cast<size_t>(r * kW + c)] += product;
      }
  REQUIRE(run(f, {in.data(), weight.data(), out.data()}));
  CHECK(out == expected);
}

TEST_CASE_METHOD(InBatches, "a recurrence sees what the iteration before stored") {
  BufferRef y = vector("y", i32, 500);
  auto next = [&](Var i) { return b.store(y, {i + 1}, b.load(y, {i}) + b.load(y, {i + 1})); };
  PrimFunc f = function({y}, b.loop("i", b.index(499), next));
  CHECK(batched(f) == 0);
  std::vector<int32_t> values = counted(500), expected = values;
  for (size_t i = 0; i < 499; ++i) expected[i + 1] += expected[i];
  REQUIRE(run(f, {values.data()}));
  CHECK(values == expected);
}

TEST_CASE_METHOD(InBatches, "buffers that overlap when running are noticed") {
  BufferRef x = vector("x", i32, 400), y = vector("y", i32, 400);
  PrimFunc f =
      function({x, y}, b.loop("i", b.index(400), [&](Var i) { return b.store(y, {i}, b.load(x, {i}) + one(i32)); }));
  CHECK(batched(f) == 1);
  for (size_t shift : {0u, 1u, 7u, 400u}) {
    std::vector<int32_t> values = counted(800), expected = values;
    for (size_t i = 0; i < 400; ++i) expected[i + shift] = expected[i] + 1;
    REQUIRE(run(f, {values.data(), values.data() + shift}));
    CHECK(values == expected);
  }
}

TEST_CASE_METHOD(InBatches, "sums into one place are not batched, sums into many are") {
  BufferRef x = b.buffer("x", i32, {b.index(50), b.index(200)}), y = vector("y", i32, 200), z = vector("z", i32, 1);
  auto add = [&](Expr sum, Expr value) { return sum + value; };
  Stmt columns = b.reduce(y, {b.index(50)}, context.zero(i32), [&](Expr s, const Indices& i, const Indices& r) {
    return add(s, b.load(x, {r[0], i[0]}));
  });
  Stmt all = b.reduce(z, {b.index(50), b.index(200)}, context.zero(i32), [&](Expr s, const Indices&, const Indices& r) {
    return add(s, b.load(x, {r[0], r[1]}));
  });
  PrimFunc f = function({x, y, z}, b.seq({columns, all}));
  CHECK(batched(f) == 2);  // over y's elements, and over z's one
  std::vector<int32_t> in = counted(10000), out(200), expected(200);
  for (size_t i = 0; i < in.size(); ++i) expected[i % 200] += in[i];
  int32_t total = 0;
  REQUIRE(run(f, {in.data(), out.data(), &total}));
  CHECK(out == expected);
  CHECK(total == std::accumulate(in.begin(), in.end(), 0));
}

TEST_CASE_METHOD(InBatches, "a batch is cut where iterations take different ways") {
  BufferRef x = vector("x", i32, 1000), y = vector("y", i32, 1000);
  for (int64_t period : {1, 3, 50, 128, 333, 2000}) {
    PrimFunc f = function({x, y}, b.loop("i", b.index(1000), [&](Var i) {
      Expr odd = arith::eq(floormod(floordiv(i, b.index(period)), b.index(2)), 1);
      return b.branch(odd, b.store(y, {i}, b.load(x, {i}) * 2), b.store(y, {i}, b.load(x, {i}) * -1));
    }));
    std::vector<int32_t> in = counted(1000), out(1000), expected(1000);
    for (size_t i = 0; i < 1000; ++i) expected[i] = static_cast<int64_t>(i) / period % 2 == 1 ? in[i] * 2 : -in[i];
    REQUIRE(run(f, {in.data(), out.data()}));
    CHECK(out == expected);
  }
}

TEST_CASE_METHOD(InBatches, "gathers, transposes and small floats run in batches") {
  BufferRef x = b.buffer("x", DType::f(16), {b.index(30), b.index(70)});
  BufferRef at = vector("at", DType::i(64), 70), y = b.buffer("y", f32, {b.index(70), b.index(30)});
  PrimFunc f = function({x, at, y}, b.compute(y, [&](const Indices& i) {
    Expr from = cast(DType::index(), b.load(at, {i[0]}));
    return cast(f32, b.load(x, {i[1], from}) + one(DType::f(16)));
  }));
  CHECK(batched(f) == 1);
  std::vector<uint16_t> in(2100);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint16_t>(0x3c00 + i % 1024);
  std::vector<int64_t> order(70);
  for (size_t i = 0; i < 70; ++i) order[i] = static_cast<int64_t>(i * 37 % 70);
  std::vector<float> out(2100);
  REQUIRE(run(f, {in.data(), order.data(), out.data()}));
  for (size_t i = 0; i < 70; ++i)
    for (size_t k = 0; k < 30; ++k) {
      double value = 1 + static_cast<double>((k * 70 + static_cast<size_t>(order[i])) % 1024) / 1024;
      REQUIRE(static_cast<double>(out[i * 30 + k]) == arith::round_to_dtype(value + 1, DType::f(16)));
    }
  order[69] = 70;
  CHECK_THROWS_AS(run(f, {in.data(), order.data(), out.data()}), InternalError);
}

TEST_CASE_METHOD(InBatches, "inner loops run in step, whatever their bounds") {
  Var n = context.var("n");
  BufferRef y = vector("y", i32, 300);
  Stmt body = b.loop("i", b.index(300), [&](Var i) {
    Stmt first = b.store(y, {i}, cast(i32, i));
    Stmt sum = b.loop("k", n, [&](Var k) { return b.store(y, {i}, b.load(y, {i}) + cast(i32, k * i)); });
    return b.seq({first, sum});
  });
  PrimFunc f = function({y}, body);
  f.params.push_back({nullptr, n});
  CHECK(batched(f) == 1);
  for (int32_t count : {0, 1, 9}) {
    std::vector<int32_t> out(300), expected(300);
    for (int32_t i = 0; i < 300; ++i) expected[static_cast<size_t>(i)] = i + i * (count * (count - 1) / 2);
    REQUIRE(run(f, {out.data()}, {count}));
    CHECK(out == expected);
  }
}

TEST_CASE_METHOD(InBatches, "triangles, breaks and scattered stores run one by one") {
  BufferRef y = b.buffer("y", i32, {b.index(60), b.index(60)}), z = vector("z", i32, 60);
  Var i = context.var("i"), k = context.var("k");
  Stmt triangle =
      b.loop(i, b.index(0), b.index(60), b.loop(k, b.index(0), i + 1, b.store(y, {i, k}, cast(i32, i - k))));
  Stmt scatter =
      b.loop("i", b.index(200), [&](Var v) { return b.store(z, {floormod(v * 7, b.index(60))}, cast(i32, v)); });
  Stmt stops = b.loop("i", b.index(60), [&](Var v) {
    return b.branch(arith::eq(v, b.index(5)), b.leave_loop(), b.store(y, {b.index(0), v}, cast(i32, v * 100)));
  });
  std::vector<int32_t> out(3600, -1), expected(3600, -1), scattered(60), places(60);
  for (int32_t r = 0; r < 60; ++r)
    for (int32_t c = 0; c <= r; ++c) expected[static_cast<size_t>(r * 60 + c)] = r - c;
  for (int32_t v = 0; v < 200; ++v) places[static_cast<size_t>(v * 7 % 60)] = v;
  for (int32_t v = 0; v < 5; ++v) expected[static_cast<size_t>(v)] = v * 100;
  REQUIRE(run(function({y, z}, b.seq({triangle, scatter, stops})), {out.data(), scattered.data()}));
  CHECK(out == expected);
  CHECK(scattered == places);
}

}  // namespace
