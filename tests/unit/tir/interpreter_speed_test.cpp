// interpreter_speed_test.cpp: where the interpreter's numbers are measured: `unit_tir "[speed]"` of a release build.
//
// Hidden from the ordinary runs, since time on a shared machine is no fact about the program.
#include <catch2/catch.hpp>
#include <chrono>

#include "compiler/tir/builder.h"
#include "compiler/tir/evaluator.h"

using namespace relaxc;
using namespace relaxc::tir;

namespace {

double millions_a_second(const PrimFunc& f, const std::vector<void*>& buffers, int64_t statements) {
  auto interpreter = make_interpreter();
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    auto start = std::chrono::steady_clock::now();
    REQUIRE(interpreter->run(f, buffers, {}));
    std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::max(best, static_cast<double>(statements) / time.count() / 1e6);
  }
  return best;
}

}  // namespace

TEST_CASE("a hundred million scalar statements a second", "[.speed]") {
  Context context;
  Builder b(context);
  DType f32 = DType::f(32);
  constexpr int64_t kN = 160, kLong = 1 << 22;
  auto square = [&](const char* name) { return b.buffer(name, f32, {b.index(kN), b.index(kN)}); };
  BufferRef x = square("x"), w = square("w"), y = square("y");
  PrimFunc matmul;
  matmul.params = {{x, {}}, {w, {}}, {y, {}}};
  matmul.body = b.reduce(y, {b.index(kN)}, context.zero(f32), [&](Expr sum, const Indices& i, const Indices& k) {
    return sum + b.load(x, {i[0], k[0]}) * b.load(w, {k[0], i[1]});
  });
  std::vector<float> p(kLong, 1), q(kLong);
  std::vector<void*> three = {p.data(), p.data(), q.data()}, two = {p.data(), q.data()};
  double speed = millions_a_second(matmul, three, kN * kN * kN);
  WARN("matmul: " << speed << " million statements a second");
  CHECK(speed > 100);

  BufferRef in = b.buffer("in", f32, {b.index(kLong)}), out = b.buffer("out", f32, {b.index(kLong)});
  auto elementwise = [&](const char* name, const std::function<Expr(Expr)>& value) {
    PrimFunc f;
    f.params = {{in, {}}, {out, {}}};
    f.body = b.compute(out, [&](const Indices& i) { return value(b.load(in, i)); });
    WARN(name << ": " << millions_a_second(f, two, kLong) << " million statements a second");
  };
  elementwise("copy", [](Expr e) { return e; });
  elementwise("maximum", [&](Expr e) { return arith::max(e, context.zero(f32)); });
  elementwise("exp", [](Expr e) { return arith::call(arith::Intrinsic::k_exp, {e}); });
}
