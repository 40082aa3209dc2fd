// matmul_test.cpp: a register-blocked matmul, as schedules will write it: right, and with its accumulators in
// registers.
//
// `unit_llvm "[bench]"` prints its speed; the peak to hold it against is lanes * 2 FMA units * 2 * GHz.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>

#include "tests/unit/llvm/programs.h"

namespace relaxc {
namespace {

using arith::Expr;
using arith::Var;
using tir::LoopKind;

struct Sizes {
  int64_t m, n, k, rows, vectors, lanes;
};

/// C[m, n] = A[m, k] * B, B packed as [n / panel][k][panel]; a tile of rows x (vectors * lanes) is summed in a local.
tir::PrimFunc matmul(tir::Builder& b, Sizes s) {
  DType f32 = DType::f(32);
  int64_t panel = s.vectors * s.lanes;
  tir::PrimFunc f;
  f.name = "matmul";
  tir::BufferRef a = b.buffer("a", f32, {b.index(s.m), b.index(s.k)});
  tir::BufferRef packed = b.buffer("b", f32, {b.index(s.n / panel), b.index(s.k), b.index(panel)});
  tir::BufferRef c = b.buffer("c", f32, {b.index(s.m), b.index(s.n)});
  tir::BufferRef sum = b.buffer("sum", f32, {b.index(s.rows), b.index(panel)}, tir::Scope::kLocal);
  f.params = {{a, {}}, {packed, {}}, {c, {}}};
  auto tile = [&](const std::function<tir::Stmt(Var row, Expr column)>& body) {
    return b.loop(
        "r", b.index(s.rows),
        [&](Var r) {
          return b.loop(
              "u", b.index(s.vectors),
              [&](Var u) {
                return b.loop(
                    "v", b.index(s.lanes), [&](Var v) { return body(r, u * s.lanes + v); }, LoopKind::kVectorized);
              },
              LoopKind::kUnrolled);
        },
        LoopKind::kUnrolled);
  };
  f.body = b.loop("p", b.index(s.n / panel), [&](Var p) {
    return b.loop("i", b.index(s.m / s.rows), [&](Var i) {
      tir::Stmt zero = tile([&](Var r, Expr column) {
        return b.store(sum, {r, column}, b.context().imm_float(f32, 0));
      });
      tir::Stmt steps = b.loop("k", b.index(s.k), [&](Var k) {
        return tile([&](Var r, Expr column) {
          Expr product =
              arith::call(arith::Intrinsic::k_fma,
                          {b.load(a, {i * s.rows + r, k}), b.load(packed, {p, k, column}), b.load(sum, {r, column})});
          return b.store(sum, {r, column}, product);
        });
      });
      tir::Stmt write = tile([&](Var r, Expr column) {
        return b.store(c, {i * s.rows + r, p * panel + column}, b.load(sum, {r, column}));
      });
      return b.alloc(sum, b.seq({zero, steps, write}));
    });
  });
  return f;
}

struct Data {
  explicit Data(Sizes s)
      : a(static_cast<size_t>(s.m * s.k)), b(static_cast<size_t>(s.n * s.k)), c(static_cast<size_t>(s.m * s.n)) {
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 7 % 31) - 15;
    for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 5 % 29) - 14;
  }
  std::vector<float> a, b, c;
};

TEST_CASE("a register-blocked matmul is right") {
  Sizes s{28, 64, 50, 14, 2, 16};
  arith::Context context;
  tir::Builder b(context);
  tir::PrimFunc f = matmul(b, s);
  Data data(s);
  void* buffers[] = {data.a.data(), data.b.data(), data.c.data()};
  for (const Target& target : {testing::native_target(), testing::baseline_target()}) {
    REQUIRE(codegen_llvm::make_jit(target)->run(f, buffers, {}));
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j) {
        float expected = 0;  // small integers: exact in any order
        for (int64_t k = 0; k < s.k; ++k)
          expected +=
              data.a[static_cast<size_t>(i * s.k + k)] * data.b[static_cast<size_t>((j / 32 * s.k + k) * 32 + j % 32)];
        if (data.c[static_cast<size_t>(i * s.n + j)] != expected)
          REQUIRE(data.c[static_cast<size_t>(i * s.n + j)] == expected);
      }
  }
}

TEST_CASE("speed of a register-blocked matmul", "[.][bench]") {
  for (Sizes s : {Sizes{504, 512, 512, 14, 2, 16}, Sizes{512, 512, 512, 8, 3 - 1, 16}, Sizes{504, 512, 512, 6, 2, 8}}) {
    arith::Context context;
    tir::Builder b(context);
    tir::PrimFunc f = matmul(b, s);
    Data data(s);
    void* buffers[] = {data.a.data(), data.b.data(), data.c.data()};
    auto jit = codegen_llvm::make_jit(testing::native_target());
    REQUIRE(jit->run(f, buffers, {}));
    double best = 1e9;
    for (int i = 0; i < 50; ++i) {
      auto begin = std::chrono::steady_clock::now();
      REQUIRE(jit->run(f, buffers, {}));
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::printf("%d x %d x %d, tile %d x %d x %d: %.1f GFLOP/s\n", int(s.m), int(s.n), int(s.k), int(s.rows),
                int(s.vectors), int(s.lanes), 2.0 * double(s.m) * double(s.n) * double(s.k) / best * 1e-9);
  }
}

}  // namespace
}  // namespace relaxc
