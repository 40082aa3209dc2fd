// multiply_shift.h: steps of a line in integers: a multiplication, an addition and a shift in place of float32.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace relaxc {

/// What is to be computed at one place along the channels: a non-decreasing function of whole numbers from `x_low` to
/// `x_high`, each result at most one away from slope * x + intercept rounded to nearest and cut to low..high.
struct Staircase {
  int64_t x_low = 0, x_high = 0;
  double slope = 1, intercept = 0;
  std::function<int64_t(int64_t)> at;
};

/// Where what is half between two results goes.
enum class Ties : uint8_t { kAnywhere, kToEven, kToOdd };

/// ((x * multiplier + product_half >> product_shift) + addend) >> right, cut to low..high; shifts round down. With a
/// rule for ties, the addend is less than a half above the line, and the sum gets one more where its bit `right` is
/// odd, or even.
struct MultiplyShift {
  std::vector<int64_t> multipliers;  ///< by channel; from 0 to 2^31 - 1
  std::vector<int64_t> addends;      ///< by channel; int32
  int product_shift = 0, right = 0;
  int64_t product_half = 0;  ///< half of 2^product_shift where the product is rounded, else 0
  Ties ties = Ties::kAnywhere;
  bool exact = false;  ///< gives the staircases' results for every x

  int64_t at(size_t channel, int64_t x, int64_t low, int64_t high) const;
  int64_t product(int64_t x, int64_t multiplier) const { return (x * multiplier + product_half) >> product_shift; }
  /// Half of a result less one: by how much the addend is above the line where ties have a rule.
  int64_t below_half() const { return (int64_t{1} << (right - 1)) - 1; }
};

/// How products are taken, which bounds the numbers.
enum class Multiplication : uint8_t {
  kHigh,         ///< the upper 32 bits of x << left times a multiplier of 31 bits
  kRoundedHigh,  ///< the same, rounded
  kParts,        ///< products of 32 bits alone: the multiplier is cut into two or three numbers
};

/// The form that agrees with the staircases for the most x; for every x if there is one. Nothing if the slopes differ
/// too much, or numbers are too large, for as many digits as float32 has.
std::optional<MultiplyShift> multiply_shift_of(const std::vector<Staircase>& channels, int64_t low, int64_t high,
                                               Multiplication how);

/// As many bits as the largest absolute value of x takes: x is from -2^bits to 2^bits - 1.
int bits_of(const std::vector<Staircase>& channels);

}  // namespace relaxc
