// pair_line_test.cpp: lines in place of functions of two bytes, at every pair.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include "compiler/transform/graph/quantization/pair_line.h"

using namespace relaxc;

namespace {

/// TFLite's sum of two int8 tensors: three products with mantissas of 31 bits, each of which is rounded twice.
struct RescaledSum {
  double a_scale = 1, b_scale = 1, scale = 1;
  int64_t a_zero = 0, b_zero = 0, zero = 0;

  static int64_t scaled(int64_t x, double by) {
    int exponent = 0;
    const int64_t mantissa = std::llround(std::ldexp(std::frexp(by, &exponent), 31));
    const int64_t high = (x * mantissa + (int64_t{1} << 30)) >> 31;
    if (exponent >= 0) return high << exponent;
    const int64_t half = int64_t{1} << -exponent >> 1;
    return (high + half - (high < 0)) >> -exponent;
  }
  int64_t at(int64_t a, int64_t b) const {
    const double twice = 2 * std::max(a_scale, b_scale);
    const int64_t sum = scaled((a - a_zero) << 20, a_scale / twice) + scaled((b - b_zero) << 20, b_scale / twice);
    return std::clamp<int64_t>(scaled(sum, std::ldexp(twice / scale, -20)) + zero, -128, 127);
  }
  PairFunction function() const {
    PairFunction f{-128, 127, -128, 127, -128, 127, a_scale / scale, b_scale / scale, 0, {}};
    f.intercept =
        static_cast<double>(zero) - f.a_slope * static_cast<double>(a_zero) - f.b_slope * static_cast<double>(b_zero);
    f.at = [*this](int64_t a, int64_t b) { return at(a, b); };
    return f;
  }
};

/// How many pairs differ; fails where a number wraps on the way.
int differing(const PairLine& line, const PairFunction& f) {
  int count = 0;
  bool fits = true;
  for (int64_t a = f.a_low; a <= f.a_high; ++a)
    for (int64_t b = f.b_low; b <= f.b_high; ++b) {
      count += std::clamp(line.at(a, b), f.low, f.high) != f.at(a, b);
      for (int64_t sum : {line.sum(a, b), line.sum(a, b) - line.addend})
        fits = fits && sum >= INT32_MIN && sum <= INT32_MAX;
    }
  CHECK(fits);
  return count;
}

}  // namespace

TEST_CASE("a rescaled sum of two tensors of bytes is a line in 32 bits") {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> unit(0, 1);
  const auto zero = [&] { return static_cast<int64_t>(random() % 256) - 128; };
  for (int round = 0; round < 25; ++round) {
    RescaledSum sum{0.01 + 0.09 * unit(random), 0.01 + 0.09 * unit(random), 1, zero(), zero(), zero()};
    sum.scale = std::max(sum.a_scale, sum.b_scale) * (0.8 + 1.2 * unit(random));
    const PairFunction f = sum.function();
    const auto line = pair_line_of(f);
    REQUIRE(line);
    CHECK(line->exact);
    CHECK(differing(*line, f) == 0);
  }
}

TEST_CASE("ties of two bytes that go away from zero are on a line that is a little steeper") {
  const PairFunction f = RescaledSum{0.5, 0.5, 1, 0, 0, 0}.function();
  const auto line = pair_line_of(f);
  REQUIRE(line);
  CHECK(line->exact);
  CHECK(differing(*line, f) == 0);
}

TEST_CASE("a function of two bytes that leaves its line at one pair is said to have none") {
  PairFunction f = RescaledSum{0.05, 0.03, 0.06, 7, -20, 3}.function();
  f.at = [at = f.at](int64_t a, int64_t b) { return at(a, b) + (a == 20 && b == 9 ? 2 : 0); };
  const auto line = pair_line_of(f);
  REQUIRE(line);
  CHECK(!line->exact);
  CHECK(differing(*line, f) >= 1);
}

TEST_CASE("a function of two bytes that is one number has a line, and one that is too steep has none") {
  PairFunction f{0, 255, 0, 255, 0, 255, 0.01, 0.01, -40, [](int64_t, int64_t) { return 0; }};
  const auto line = pair_line_of(f);
  REQUIRE(line);
  CHECK(line->exact);
  CHECK(differing(*line, f) == 0);
  f.a_slope = 1e4;
  CHECK(!pair_line_of(f));
}
