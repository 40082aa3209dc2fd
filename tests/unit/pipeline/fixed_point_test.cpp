// fixed_point_test.cpp: multipliers and shifts in place of float32, at every number that a sum can become.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include "compiler/transform/graph/quantization/multiply_shift.h"

using namespace relaxc;

namespace {

/// What `requantize` computes in float32, to bytes of zero point `zero`.
struct Requantization {
  float multiplier = 1, addend = 0;
  int64_t zero = 0;

  int64_t at(int64_t x) const {
    const float product = static_cast<float>(x) * multiplier;
    const float value = std::clamp(product + addend, static_cast<float>(-128 - zero), static_cast<float>(127 - zero));
    return static_cast<int64_t>(std::nearbyint(value)) + zero;
  }
  double exact(int64_t x) const {
    return static_cast<double>(x) * static_cast<double>(multiplier) + static_cast<double>(addend);
  }
  Staircase over(int64_t low, int64_t high) const {
    return {low, high, multiplier, static_cast<double>(addend) + static_cast<double>(zero),
            [*this](int64_t x) { return at(x); }};
  }
};

/// How many results differ from those of float32; fails where one is not that of a neighbour next to a tie.
int64_t differing(const MultiplyShift& form, size_t channel, const Requantization& f, int64_t low, int64_t high) {
  int64_t count = 0;
  bool near = true;
  for (int64_t x = low; x <= high; ++x) {
    const int64_t got = form.at(channel, x, -128, 127), want = f.at(x);
    count += got != want;
    const double value = f.exact(x), to_tie = std::abs(std::abs(value - std::floor(value)) - 0.5);
    near = near && (got == want || (std::abs(got - want) == 1 && to_tie < 1e-3));
  }
  CHECK(near);
  return count;
}

}  // namespace

TEST_CASE("a fixed-point form differs from float32 only next to a tie, and an exact one nowhere") {
  std::mt19937 random(7);
  int exact = 0;
  for (Multiplication how : {Multiplication::kHigh, Multiplication::kRoundedHigh, Multiplication::kParts})
    for (int round = 0; round < 60; ++round) {
      const int bits = 9 + round % 11;  // of the sum
      const int64_t high = int64_t{1} << bits, low = -high + 5;
      std::vector<Requantization> functions;
      std::vector<Staircase> channels;
      for (int c = 0; c < 3; ++c) {
        std::uniform_real_distribution<float> unit(0, 1);
        const float scale = 300.0F / static_cast<float>(high) * (0.25F + unit(random));
        functions.push_back({scale, 60 * unit(random) - 30, static_cast<int64_t>(random() % 256) - 128});
        channels.push_back(functions.back().over(low, high));
      }
      const auto form = multiply_shift_of(channels, -128, 127, how);
      REQUIRE(form);
      CHECK(bits_of(channels) <= bits + 1);
      int64_t count = 0;
      for (size_t c = 0; c < functions.size(); ++c) {
        const int64_t of_channel = differing(*form, c, functions[c], low, high);
        CHECK((of_channel == 0 || !form->exact_channels[c]));
        count += of_channel;
      }
      CHECK((count == 0) == form->exact);
      exact += form->exact;
    }
  CHECK(exact > 60);
}

TEST_CASE("ties between stored numbers go where float32 puts them, where scales are powers of two") {
  for (float multiplier : {0.5F, 0.25F, 0.0078125F})
    for (int64_t zero : {-128, 3}) {
      const Requantization f{multiplier, 0.5F, zero};
      const auto form = multiply_shift_of({f.over(-40000, 40000)}, -128, 127, Multiplication::kHigh);
      REQUIRE(form);
      CHECK(form->exact);
      CHECK(differing(*form, 0, f, -40000, 40000) == 0);
    }
}

TEST_CASE("channels that are never reached, and constant ones, have fixed-point forms") {
  const Requantization dead{0, 2.25F, 0}, alive{0.0123F, 0, 0}, above{0.01F, 900, 0};
  const auto form = multiply_shift_of({dead.over(-9000, 9000), alive.over(-9000, 9000), above.over(-9000, 9000)}, -128,
                                      127, Multiplication::kHigh);
  REQUIRE(form);
  CHECK(form->exact);
  for (int64_t x : {-9000, 0, 9000}) {
    CHECK(form->at(0, x, -128, 127) == 2);
    CHECK(form->at(2, x, -128, 127) == 127);
  }
}

TEST_CASE("what does not fit 32 bits has no fixed-point form") {
  const Requantization f{1e-6F, 0, 0}, large{4000.0F, 0, 0};
  CHECK(!multiply_shift_of({f.over(-(int64_t{1} << 33), int64_t{1} << 33)}, -128, 127, Multiplication::kHigh));
  CHECK(!multiply_shift_of({large.over(-100000, 100000)}, -128, 127, Multiplication::kHigh));
}
