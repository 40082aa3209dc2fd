// arithmetic_test.cpp: the runtime's float functions against the host's libm, on values of every kind.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "rlx_internal.h"
#include "tests/sanitized.h"

namespace {

/// Half of them with exponents close enough to cancel, overflow into each other, or be subnormal.
double sample(std::mt19937_64& random) {
  uint64_t bits = random();
  switch (random() % 8) {
    case 0:
      return std::ldexp(static_cast<double>(bits >> 12), -1074);
    case 1:
      return std::ldexp(static_cast<double>(bits % 64) - 32, static_cast<int>(random() % 8));
    case 2: {
      const double special[] = {
          0.0, -0.0, HUGE_VAL, -HUGE_VAL, std::nan(""), 1.0, -1.0, 0x1p-1074, 0x1.fffffffffffffp1023};
      return special[bits % 9];
    }
    case 3:
    case 4:
      return std::bit_cast<double>((bits & 0x800fffffffffffffu) | (uint64_t{1000 + bits % 47} << 52));
    default:
      return std::bit_cast<double>(bits);
  }
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

TEST_CASE("rlx_fma rounds once, like fma") {
  std::mt19937_64 random(1);
  for (int i = 0; i < relaxc::testing::sample(2000000); ++i) {
    double x = sample(random), y = sample(random), z = i % 3 == 0 ? -x * y * (1 + 0x1p-52) : sample(random);
    double got = rlx_fma(x, y, z), expected = std::fma(x, y, z);
    INFO(std::hexfloat << x << " * " << y << " + " << z << " = " << got << ", expected " << expected);
    if (!same(got, expected)) REQUIRE(got == expected);
  }
}

TEST_CASE("rlx_fmaf rounds once, like fmaf") {
  std::mt19937_64 random(3);
  auto narrow = [&] { return std::bit_cast<float>(static_cast<uint32_t>(random())); };
  for (int i = 0; i < relaxc::testing::sample(2000000); ++i) {
    float x = narrow(), y = narrow();
    float z = i % 3 == 0 ? -x * y : i % 3 == 1 ? x * y * std::ldexp(1.0F, -static_cast<int>(random() % 60)) : narrow();
    float got = rlx_fmaf(x, y, z), expected = std::fma(x, y, z);
    INFO(std::hexfloat << x << " * " << y << " + " << z << " = " << got << ", expected " << expected);
    if (!same(got, expected)) REQUIRE(got == expected);
  }
}

TEST_CASE("rlx_sqrt is sqrt") {
  std::mt19937_64 random(4);
  for (int i = 0; i < relaxc::testing::sample(1000000); ++i) {
    double x = i % 2 == 0 ? std::abs(sample(random)) : sample(random);
    if (i % 5 == 0) x *= x;  // exact roots
    INFO(std::hexfloat << "root of " << x << " = " << rlx_sqrt(x) << ", expected " << std::sqrt(x));
    if (!same(rlx_sqrt(x), std::sqrt(x))) REQUIRE(rlx_sqrt(x) == std::sqrt(x));
    auto f = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!same(rlx_sqrtf(f), std::sqrt(f))) REQUIRE(rlx_sqrtf(f) == std::sqrt(f));
  }
}

TEST_CASE("rlx_fmod is fmod") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 300000; ++i) {
    double x = sample(random), y = sample(random);
    double got = rlx_fmod(x, y), expected = std::fmod(x, y);
    INFO(std::hexfloat << x << " mod " << y << " = " << got << ", expected " << expected);
    if (!same(got, expected)) REQUIRE(got == expected);
    float f = static_cast<float>(x), g = static_cast<float>(y);
    if (!same(rlx_fmodf(f, g), std::fmod(f, g))) REQUIRE(rlx_fmodf(f, g) == std::fmod(f, g));
  }
}

}  // namespace
