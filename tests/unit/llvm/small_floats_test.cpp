// small_floats_test.cpp: narrow floats against arith::round_to_dtype, on the host's CPU and on the oldest one.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/dtypes.h"
#include "tests/unit/llvm/programs.h"

namespace relaxc {
namespace {

using tir::LoopKind;

std::vector<DType> narrow_dtypes() {
  std::vector<DType> narrow;
  for (DType dtype : testing::kEveryDType)
    if (dtype.is_float() && dtype.bits <= 16) narrow.push_back(dtype);
  return narrow;
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

/// Values at, around and between the representable ones, and bits at random.
std::vector<double> samples() {
  std::vector<double> out;
  std::mt19937_64 random(7);
  for (int i = 0; i < 6000; ++i) {
    double base = std::ldexp(1.0 + static_cast<double>(random() % 4096) / 2048, static_cast<int>(random() % 60) - 40);
    for (double nudge : {0.0, std::ldexp(base, -30), -std::ldexp(base, -45)})
      out.push_back((i % 2 ? -1 : 1) * (base + nudge));
  }
  for (double x : {0.0, -0.0, 65504.0, 65519.99, 65520.0, 448.0, 464.0, 464.0001, 57344.0, 61440.0, HUGE_VAL, -HUGE_VAL,
                   std::nan("")})
    out.push_back(x);
  for (int i = 0; i < 3000; ++i) out.push_back(std::bit_cast<double>(random()));
  while (out.size() % 16 != 0) out.push_back(1);
  return out;
}

void check(DType from, DType to, const Target& target, LoopKind kind) {
  arith::Context context;
  tir::Builder b(context);
  std::vector<double> in = samples(), out(in.size());
  DType wide = DType::f(64);
  for (double& x : in) x = arith::round_to_dtype(arith::round_to_dtype(x, DType::f(32)), from);
  auto f = testing::elementwise(b, wide, wide, static_cast<int64_t>(in.size()), kind, [&](arith::Expr e) {
    return arith::cast(wide, arith::cast(to, arith::cast(from, e)));
  });
  auto jit = codegen_llvm::make_jit(target);
  void* buffers[] = {in.data(), out.data()};
  REQUIRE(jit->run(f, buffers, {}));
  for (size_t i = 0; i < in.size(); ++i) {
    double expected = arith::round_to_dtype(in[i], to);
    INFO(to_string(from) << " " << in[i] << " to " << to_string(to) << ": " << out[i] << ", expected " << expected);
    if (!same(out[i], expected) && !(expected == 0 && out[i] == 0)) REQUIRE(out[i] == expected);
  }
}

TEST_CASE("casts to narrow floats round to nearest even") {
  for (DType to : narrow_dtypes())
    for (DType from : {DType::f(64), DType::f(32)})
      for (LoopKind kind : {LoopKind::kSerial, LoopKind::kVectorized}) {
        check(from, to, testing::native_target(), kind);
        check(from, to, testing::baseline_target(), kind);
      }
}

TEST_CASE("every stored pattern of a narrow float survives a load, a cast to float64 and back") {
  for (DType narrow : narrow_dtypes()) {
    for (const Target& target : {testing::native_target(), testing::baseline_target()}) {
      arith::Context context;
      tir::Builder b(context);
      size_t count = size_t{1} << narrow.bits;
      auto f = testing::elementwise(b, narrow, narrow, static_cast<int64_t>(count), LoopKind::kVectorized,
                                    [&](arith::Expr e) { return arith::cast(narrow, arith::cast(DType::f(64), e)); });
      auto jit = codegen_llvm::make_jit(target);
      std::vector<uint16_t> in16(count), out16(count);
      std::vector<uint8_t> in8(count), out8(count);
      for (size_t i = 0; i < count; ++i) in16[i] = static_cast<uint16_t>(i), in8[i] = static_cast<uint8_t>(i);
      void* buffers[] = {narrow.bits == 16 ? static_cast<void*>(in16.data()) : in8.data(),
                         narrow.bits == 16 ? static_cast<void*>(out16.data()) : out8.data()};
      REQUIRE(jit->run(f, buffers, {}));
      size_t changed = 0;
      for (size_t i = 0; i < count; ++i) changed += narrow.bits == 16 ? out16[i] != in16[i] : out8[i] != in8[i];
      INFO(to_string(narrow));
      // Only NaNs may change: float16 has 2046 of them, bfloat16 254, E5M2 six, the others one or two.
      CHECK(changed <= (narrow == DType::f(16) ? 2046 : narrow == DType::bf16() ? 254 : 6));
    }
  }
}

}  // namespace
}  // namespace relaxc
