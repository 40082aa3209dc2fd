// pair_line.h: a function of two bytes that is a line but for its rounding, as two multiplications and one shift.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace relaxc {

/// What is to be computed of a in a_low..a_high and b in b_low..b_high: about a_slope * a + b_slope * b + intercept,
/// rounded to nearest and cut to low..high.
struct PairFunction {
  int64_t a_low = 0, a_high = 0, b_low = 0, b_high = 0;
  int64_t low = 0, high = 0;
  double a_slope = 1, b_slope = 1, intercept = 0;
  std::function<int64_t(int64_t a, int64_t b)> at;
};

/// (a * a_multiplier + b * b_multiplier + addend) >> right, cut to the function's low..high; nothing wraps in int32.
struct PairLine {
  int64_t a_multiplier = 0, b_multiplier = 0, addend = 0;
  int right = 0;
  bool exact = false;  ///< gives the function's result for every pair

  int64_t sum(int64_t a, int64_t b) const { return a * a_multiplier + b * b_multiplier + addend; }
  int64_t at(int64_t a, int64_t b) const { return sum(a, b) >> right; }
};

/// An exact line, or if none is found the one with the function's slopes; nothing if numbers are too large for 32 bits.
std::optional<PairLine> pair_line_of(const PairFunction& f);

}  // namespace relaxc
