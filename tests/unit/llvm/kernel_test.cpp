// kernel_test.cpp: vectorized loops give the bits of serial ones.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

#include "compiler/tir/annotations.h"
#include "tests/unit/llvm/programs.h"

namespace relaxc {
namespace {

using arith::Expr;
using arith::Var;
using tir::LoopKind;

/// Runs `make(kind)` for a serial and a vectorized loop on the same memory and compares all bytes.
void same_bits(const std::function<tir::PrimFunc(tir::Builder&, LoopKind)>& make, size_t floats) {
  std::vector<float> results[2];
  for (int vector = 0; vector < 2; ++vector) {
    arith::Context context;
    tir::Builder b(context);
    tir::PrimFunc f = make(b, vector ? LoopKind::kVectorized : LoopKind::kSerial);
    std::mt19937 random(3);
    std::vector<std::vector<float>> memory;
    std::vector<void*> buffers;
    for (size_t i = 0; i < f.params.size(); ++i) {
      std::vector<float>& one = memory.emplace_back(floats);
      for (float& x : one) x = static_cast<float>(random() % 2000) / 100 - 10;
    }
    for (auto& one : memory) buffers.push_back(one.data());
    auto jit = codegen_llvm::make_jit(testing::native_target());
    REQUIRE(jit->run(f, buffers, {}));
    for (auto& one : memory) results[vector].insert(results[vector].end(), one.begin(), one.end());
  }
  CHECK(std::memcmp(results[0].data(), results[1].data(), results[0].size() * sizeof(float)) == 0);
}

tir::PrimFunc over_lanes(tir::Builder& b, LoopKind kind,
                         const std::function<tir::Stmt(tir::BufferRef, tir::BufferRef, Var)>& body) {
  tir::PrimFunc f;
  f.name = "f";
  tir::BufferRef in = b.buffer("in", DType::f(32), {b.index(16), b.index(16)});
  tir::BufferRef out = b.buffer("out", DType::f(32), {b.index(16), b.index(16)});
  f.params = {{in, {}}, {out, {}}};
  f.body = b.loop(
      "v", b.index(16), [&](Var v) { return body(in, out, v); }, kind);
  return f;
}

TEST_CASE("contiguous, broadcast, strided and reversed subscripts") {
  same_bits(
      [](tir::Builder& b, LoopKind kind) {
        return over_lanes(b, kind, [&](auto in, auto out, Var v) {
          Expr reversed = b.index(15) - v;
          return b.store(out, {b.index(3), v},
                         b.load(in, {b.index(1), v}) +
                             b.load(in, {b.index(2), b.index(2)}) * b.load(in, {v, b.index(4)}) -
                             b.load(in, {b.index(5), reversed}));
        });
      },
      256);
}

TEST_CASE("subscripts that are not affine gather and scatter") {
  same_bits(
      [](tir::Builder& b, LoopKind kind) {
        return over_lanes(b, kind, [&](auto in, auto out, Var v) {
          return b.store(out, {arith::floormod(v * 5, 16), arith::floordiv(v, 3)},
                         b.load(in, {arith::floordiv(v, 4), arith::floormod(v, 4)}));
        });
      },
      256);
}

TEST_CASE("iterations that store side by side wait for each other, unless they read what the others stored") {
  for (int64_t few : {2, 3, 4, 8})
    for (bool reads : {false, true})
      for (bool masked : {false, true})
        same_bits(
            [&](tir::Builder& b, LoopKind kind) {
              tir::PrimFunc f;
              f.name = "f";
              tir::BufferRef in = b.buffer("in", DType::f(32), {b.index(8), b.index(16)});
              tir::BufferRef out = b.buffer("out", DType::f(32), {b.index(16), b.index(few)});
              f.params = {{in, {}}, {out, {}}};
              auto element = [&](Var v, Var c) {
                Expr seen = reads ? b.load(out, {v, arith::floordiv(c, 2)}) : b.load(in, {b.index(0), v});
                tir::Stmt store = b.store(out, {v, c}, seen + b.load(in, {c, v}));
                return masked ? b.branch(arith::lt(arith::floormod(v, 5), b.index(3)), store) : store;
              };
              f.body = b.loop(
                  "v", b.index(16),
                  [&](Var v) {
                    return b.loop(
                        "c", b.index(few), [&](Var c) { return element(v, c); }, LoopKind::kUnrolled);
                  },
                  kind);
              return f;
            },
            128);
}

TEST_CASE("what statements that store side by side have read is read again after them, and through views") {
  for (bool guarded : {false, true})
    for (bool view : {false, true})
      same_bits(
          [&](tir::Builder& b, LoopKind kind) {
            tir::PrimFunc f;
            f.name = "f";
            tir::BufferRef in = b.buffer("in", DType::f(32), {b.index(32)});
            tir::BufferRef out = b.buffer("out", DType::f(32), {b.index(16), b.index(2)});
            tir::BufferRef other = b.buffer("other", DType::f(32), {b.index(32)});
            tir::BufferRef last = b.buffer("last", DType::f(32), {b.index(16)});
            f.params = {{in, {}}, {out, {}}, {last, {}}};
            f.body = b.view(other, view ? out : in, b.index(0), b.loop("o", b.index(2), [&](Var o) {
              return b.loop(
                  "v", b.index(16),
                  [&](Var v) {
                    auto pair = [&](int64_t c) {
                      tir::Stmt s = b.store(out, {v, b.index(c)}, b.load(other, {v * 2}) + b.load(in, {v + c}));
                      return guarded ? b.branch(arith::lt(o, b.index(1)), s) : s;
                    };
                    return b.seq({pair(0), pair(1), b.store(in, {v}, b.load(in, {v}) * b.load(in, {v})),
                                  b.store(last, {v}, b.load(in, {v}) + b.load(out, {v, b.index(1)}))});
                  },
                  kind);
            }));
            return f;
          },
          128);
}

TEST_CASE("bytes pick from a table of 256, and lanes that do not run pick nothing") {
  for (int64_t lanes : {3, 16, 64})
    for (DType dtype : {DType::u(8), DType::i(8)})
      same_bits(
          [&](tir::Builder& b, LoopKind kind) {
            tir::PrimFunc f;
            f.name = "f";
            tir::BufferRef table = b.buffer("table", dtype, {b.index(256)});
            tir::BufferRef in = b.buffer("in", DType::u(8), {b.index(512)});
            tir::BufferRef out = b.buffer("out", dtype, {b.index(512)});
            f.params = {{table, {}}, {in, {}}, {out, {}}};
            f.body = b.loop("o", b.index(512 / lanes), [&](Var o) {
              return b.loop(
                  "v", b.index(lanes),
                  [&](Var v) {
                    Expr i = o * lanes + v, byte = b.load(in, {i});
                    tir::Stmt picked = b.store(out, {i}, b.load(table, {arith::cast(DType::index(), byte)}));
                    return b.branch(arith::lt(arith::floormod(i, 7), b.index(5)), picked);
                  },
                  kind);
            });
            return f;
          },
          256);
}

TEST_CASE("divisions of a fused reshape, with and without remainders of vectors") {
  for (int64_t width : {int64_t{32}, int64_t{48}, int64_t{7}}) {
    same_bits(
        [&](tir::Builder& b, LoopKind kind) {
          tir::PrimFunc f;
          f.name = "f";
          tir::BufferRef in = b.buffer("in", DType::f(32), {b.index(256 / width), b.index(width)});
          tir::BufferRef out = b.buffer("out", DType::f(32), {b.index(256)});
          f.params = {{in, {}}, {out, {}}};
          f.body = b.loop("o", b.index(256 / width * width / 16), [&](Var o) {
            return b.loop(
                "v", b.index(16),
                [&](Var v) {
                  Expr i = o * 16 + v;
                  return b.store(out, {i}, b.load(in, {arith::floordiv(i, width), arith::floormod(i, width)}));
                },
                kind);
          });
          return f;
        },
        256);
  }
}

TEST_CASE("a condition that differs between lanes guards what it reads") {
  same_bits(
      [](tir::Builder& b, LoopKind kind) {
        return over_lanes(b, kind, [&](auto in, auto out, Var v) {
          Expr inside = arith::logical_and(arith::le(b.index(3), v), arith::lt(v, b.index(11)));
          // Outside, the subscripts are before and behind the buffer's memory.
          Expr far = (v - 3) * 1000000000;
          Expr near = arith::select(arith::eq(v, 3), b.load(in, {b.index(0), far}), b.load(in, {b.index(0), v - 3}));
          return b.store(out, {b.index(0), v}, arith::select(inside, near, b.context().imm_float(DType::f(32), 0)));
        });
      },
      256);
}

TEST_CASE("one element for all lanes is read only where a lane asks for it") {
  same_bits(
      [](tir::Builder& b, LoopKind kind) {
        tir::PrimFunc f = over_lanes(b, kind, [&](auto, auto out, Var v) {
          return b.store(out, {v, v}, b.context().zero(DType::f(32)));
        });
        tir::BufferRef in = f.params[0].buffer, out = f.params[1].buffer;
        f.body = b.loop("o", b.index(3), [&](Var o) {
          return b.loop(
              "v", b.index(16),
              [&](Var v) {
                Expr asked = arith::lt(v + o * 8, b.index(11));  // of the last o by none
                Expr far = o * o * (o - 1) * 1000000000;         // of the last o no place in the buffer
                Expr there = b.load(in, {b.index(2), b.index(3)});
                return b.store(out, {o, v}, arith::select(asked, b.load(in, {far, b.index(5)}), there));
              },
              kind);
        });
        return f;
      },
      256);
}

TEST_CASE("branches become masks") {
  same_bits(
      [](tir::Builder& b, LoopKind kind) {
        return over_lanes(b, kind, [&](auto in, auto out, Var v) {
          Expr x = b.load(in, {b.index(0), v});
          Expr zero = b.context().imm_float(DType::f(32), 0);
          return b.branch(arith::lt(x, zero), b.store(out, {b.index(1), v}, zero - x),
                          b.seq({b.store(out, {b.index(2), v}, x),
                                 b.store(out, {arith::floordiv(v, 2) + 5, arith::floormod(v, 2)}, x + x)}));
        });
      },
      256);
}

TEST_CASE("a reduction into one place keeps its order") {
  same_bits(
      [](tir::Builder& b, LoopKind kind) {
        return over_lanes(b, kind, [&](auto in, auto out, Var v) {
          tir::Indices at{b.index(0), b.index(0)};
          return b.store(out, at, b.load(out, at) + b.load(in, {b.index(1), v}));
        });
      },
      256);
}

TEST_CASE("locals of a vectorized body are private to their lane") {
  same_bits(
      [](tir::Builder& b, LoopKind kind) {
        return over_lanes(b, kind, [&](auto in, auto out, Var v) {
          tir::BufferRef local = b.buffer("local", DType::f(32), {b.index(4)}, tir::Scope::kLocal);
          return b.alloc(local, b.seq({b.loop("k", b.index(4),
                                              [&](Var k) {
                                                return b.store(local, {k}, b.load(in, {k, v}));
                                              }),
                                       b.store(out, {b.index(0), v},
                                               b.load(local, {b.index(1)}) * b.load(local, {arith::floormod(v, 4)}))}));
        });
      },
      256);
}

TEST_CASE("a guard leaves with its code and what it found") {
  arith::Context context;
  tir::Builder b(context);
  tir::PrimFunc f;
  f.name = "guarded";
  Var n = context.var("n");
  f.params = {{nullptr, n}};
  tir::Guard guard;
  guard.condition = arith::le(n, b.index(7));
  guard.code = 9, guard.symbol = 2, guard.expected = b.index(7), guard.actual = n;
  f.body = b.guard(guard);
  auto jit = codegen_llvm::make_jit(testing::native_target());
  int64_t fine[] = {7}, large[] = {8};
  CHECK(jit->run(f, {}, fine));
  tir::RunStatus status = jit->run(f, {}, large);
  CHECK((status.code == 9 && status.symbol == 2 && status.tensor == -1 && status.expected == 7 && status.actual == 8));
}

TEST_CASE("checked index arithmetic reports an overflow") {
  arith::Context context;
  tir::Builder b(context);
  tir::PrimFunc f;
  f.name = "size";
  f.checks.overflow_code = 20;
  Var n = context.var("n"), m = context.var("m");
  tir::BufferRef out = b.buffer("out", DType::i(64), {b.index(1)});
  f.params = {{nullptr, n}, {nullptr, m}, {out, {}}};
  f.body = b.store(out, {b.index(0)}, arith::cast(DType::i(64), n * m + 1));
  auto jit = codegen_llvm::make_jit(testing::native_target());
  int64_t result = 0;
  void* buffers[] = {&result};
  int64_t fine[] = {3, 4}, large[] = {int64_t{1} << 40, int64_t{1} << 40};
  CHECK(jit->run(f, buffers, fine));
  CHECK(result == 13);
  CHECK(jit->run(f, buffers, large).code == 20);
}

TEST_CASE("integer division by zero gives 0 and the least integer divided by -1 wraps") {
  arith::Context context;
  tir::Builder b(context);
  for (LoopKind kind : {LoopKind::kSerial, LoopKind::kVectorized}) {
    auto f = testing::elementwise(b, DType::i(32), DType::i(32), 16, kind, [&](Expr e) {
      Expr least = context.imm(DType::i(32), INT32_MIN);
      return least / e + arith::floordiv(e, context.imm(DType::i(32), -4)) * 2;
    });
    std::vector<int32_t> in = {0, -1, 1, 7, -7, 8, -8, 3, 0, 0, 0, 0, 0, 0, 0, 0}, out(16);
    void* buffers[] = {in.data(), out.data()};
    auto jit = codegen_llvm::make_jit(testing::native_target());
    REQUIRE(jit->run(f, buffers, {}));
    auto floor_quotient = [](int32_t a) { return a >= 0 ? -((a + 3) / 4) : -a / 4; };
    for (size_t i = 0; i < in.size(); ++i) {
      int64_t quotient = in[i] == 0 ? 0 : int64_t{INT32_MIN} / in[i];
      CHECK(out[i] ==
            static_cast<int32_t>(static_cast<uint32_t>(quotient) + 2u * static_cast<uint32_t>(floor_quotient(in[i]))));
    }
  }
}

TEST_CASE("lanes become integers as single numbers do, whatever their size") {
  for (DType to : {DType::i(8), DType::u(8), DType::i(16), DType::u(16), DType::i(32)}) {
    std::vector<float> numbers{NAN, -NAN, INFINITY, -INFINITY, 0.0F, -0.0F, 0.99F, -0.99F, 1e-40F, 3e38F, -3e38F};
    for (int bits : {7, 8, 15, 16, 31, 32})
      for (float limit : {std::ldexp(1.0F, bits), -std::ldexp(1.0F, bits)})
        for (float near : {limit, std::nextafter(limit, 0.0F), std::nextafter(limit, 2 * limit), limit - 1, limit + 1})
          numbers.push_back(near);
    numbers.resize((numbers.size() + 15) / 16 * 16, -2.5F);
    std::vector<std::byte> results[2];
    for (int vector = 0; vector < 2; ++vector) {
      arith::Context context;
      tir::Builder b(context);
      LoopKind kind = vector ? LoopKind::kVectorized : LoopKind::kSerial;
      tir::PrimFunc f = testing::elementwise(b, DType::f(32), to, static_cast<int64_t>(numbers.size()), kind,
                                             [&](Expr x) { return arith::cast(to, x); });
      results[vector].resize(numbers.size() * static_cast<size_t>(to.bytes()));
      std::vector<void*> buffers{numbers.data(), results[vector].data()};
      auto jit = codegen_llvm::make_jit(testing::native_target());
      REQUIRE(jit->run(f, buffers, {}));
    }
    CHECK(results[0] == results[1]);
  }
}

TEST_CASE("what is prefetched changes nothing, behind the ends of buffers, under conditions and by views") {
  const auto result = [](int64_t iterations) {
    arith::Context context;
    tir::Builder b(context);
    tir::PrimFunc f;
    f.name = "f";
    tir::BufferRef in = b.buffer("in", DType::f(32), {b.index(16), b.index(16)});
    tir::BufferRef seen = b.buffer("seen", DType::f(32), {b.index(16), b.index(16)});
    tir::BufferRef out = b.buffer("out", DType::f(32), {b.index(4), b.index(16)});
    f.params = {{in, {}}, {out, {}}};
    const auto term = [&](Var k, Var r, Var v) {
      const Expr now = b.load(out, {r, v});
      const tir::Stmt sum = b.store(out, {r, v}, now + b.load(seen, {k, v}) * b.load(in, {k, r}));
      return b.branch(arith::lt(Expr(k) * r, b.index(20)), sum);
    };
    const auto tile = [&](Var v) {
      const tir::Stmt sums = b.loop("k", b.index(16), [&](Var k) {
        return b.loop(
            "r", b.index(4), [&](Var r) { return term(k, r, v); }, LoopKind::kUnrolled);
      });
      tir::For loop = *sums.as<tir::For>();
      if (iterations != 0) loop.annotations[tir::kPrefetchIterations] = iterations;
      return tir::Stmt(context.arena().make<tir::For>(std::move(loop)));
    };
    f.body = b.view(seen, in, b.index(0), b.loop("v", b.index(16), tile, LoopKind::kVectorized));
    std::vector<float> memory[2];
    std::mt19937 random(7);
    for (auto& one : memory)
      for (int i = 0; i < 256; ++i) one.push_back(static_cast<float>(random() % 2000) / 100 - 10);
    auto jit = codegen_llvm::make_jit(testing::native_target());
    std::vector<void*> buffers{memory[0].data(), memory[1].data()};
    REQUIRE(jit->run(f, buffers, {}));
    return memory[1];
  };
  const std::vector<float> expected = result(0);
  for (int64_t iterations : {1, 3, 1000}) CHECK(result(iterations) == expected);
}

}  // namespace
}  // namespace relaxc
