// multiply_shift.h: rounded lines in integers: a multiplication, an addition and a shift in place of float32.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace relaxc {

/// The function to compute for one channel: non-decreasing on integers from `x_low` to `x_high`, each result at most
/// one away from slope * x + intercept rounded to nearest and clamped to low..high.
struct Staircase {
  int64_t x_low = 0, x_high = 0;
  double slope = 1, intercept = 0;
  std::function<int64_t(int64_t)> at;
};

/// How values halfway between two results are rounded.
enum class Ties : uint8_t { kAnywhere, kToEven, kToOdd };

/// ((x * multiplier + product_half >> product_shift) + addend) >> right, clamped to low..high; shifts round down. With
/// a rule for ties, the addend includes below_half(), and the sum is incremented if its bit `right` without that is 1
/// (kToEven) or 0 (kToOdd).
struct MultiplyShift {
  std::vector<int64_t> multipliers;  ///< by channel; from 0 to 2^31 - 1
  std::vector<int64_t> addends;      ///< by channel; int32
  int product_shift = 0, right = 0;
  int64_t product_half = 0;  ///< half of 2^product_shift if the product is rounded, else 0
  Ties ties = Ties::kAnywhere;
  bool exact = false;                ///< gives the staircases' results for every x
  std::vector<bool> exact_channels;  ///< by channel: the same of its staircase, by a line without a rule for ties

  int64_t at(size_t channel, int64_t x, int64_t low, int64_t high) const;
  int64_t product(int64_t x, int64_t multiplier) const { return (x * multiplier + product_half) >> product_shift; }
  /// 2^(right - 1) - 1, by which the addend is above the line if ties have a rule.
  int64_t below_half() const { return (int64_t{1} << (right - 1)) - 1; }
};

/// How products are computed, which bounds their operands.
enum class Multiplication : uint8_t {
  kHigh,         ///< the upper 32 bits of x << left times a multiplier of 31 bits
  kRoundedHigh,  ///< the same, rounded
  kParts,        ///< products of 32 bits alone: the multiplier is split into two or three numbers
};

/// Which shifts a form has: those that keep the most digits, or those that most layers can have, which can then be one
/// kernel.
enum class Shifts : uint8_t { kFinest, kCommon };

/// Returns the form that agrees with the staircases for the most x, for every x if possible. Nothing if slopes differ
/// too much, or numbers are too large, for as many digits as float32 has.
std::optional<MultiplyShift> multiply_shift_of(const std::vector<Staircase>& channels, int64_t low, int64_t high,
                                               Multiplication how, Shifts shifts = Shifts::kFinest);

/// Returns the least number of bits with which every x is within -2^bits..2^bits - 1.
int bits_of(const std::vector<Staircase>& channels);

}  // namespace relaxc
