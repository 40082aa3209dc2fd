// pair_line.cpp: see pair_line.h.
//
// Two bytes have 65,536 pairs of values, and for each pair the result k bounds the sum s of the line:
//
//   k << right  <=  s(a, b)  <  (k + 1) << right        (one of the bounds alone where k is the lowest or the highest)
//
// For two given multipliers the addends that satisfy all of them are an interval. Few pairs are near a bound, so the
// multipliers next to the function's slopes are tried on these alone, the nearest first, and the first ones that have
// an addend are compared at all pairs. Of 100 of TFLite's sums of random scales, the rounded slopes gave 95, and
// multipliers at most two away all (tests/unit/pipeline/pair_line_test.cpp). As many bits as fit 32 are kept: #include
// "compiler/transform/graph/quantization/pair_line.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace relaxc {

namespace {

constexpr int64_t kFarthest = 4;     // a multiplier that is tried, from the rounded slope
constexpr double kNear = 1.0 / 512;  // of a result, from the slopes' line to a bound
constexpr int64_t kMostAddend = int64_t{1} << 30;

struct Pair {
  int64_t a = 0, b = 0, k = 0;
};

class LineSearch {
 public:
  LineSearch(const PairFunction& f, int right) : f_(f) {
    slopes_.right = right;
    slopes_.a_multiplier = std::llround(std::ldexp(f.a_slope, right));
    slopes_.b_multiplier = std::llround(std::ldexp(f.b_slope, right));
    slopes_.addend = std::llround(std::ldexp(f.intercept + 0.5, right));
    for (int64_t a = f.a_low; a <= f.a_high; ++a)
      for (int64_t b = f.b_low; b <= f.b_high; ++b) {
        const int64_t k = f.at(a, b);
        const double above = f.a_slope * static_cast<double>(a) + f.b_slope * static_cast<double>(b) + f.intercept +
                             0.5 - static_cast<double>(k);
        pairs_.push_back({a, b, k});
        if ((k > f.low && above < kNear) || (k < f.high && above > 1 - kNear)) near_.push_back(pairs_.back());
      }
  }

  PairLine run() const {
    for (int64_t distance = 0; distance <= kFarthest; ++distance)
      for (int64_t i = -distance; i <= distance; ++i)
        for (int64_t j = -distance; j <= distance; ++j) {
          if (std::max(std::abs(i), std::abs(j)) != distance) continue;
          PairLine line = slopes_;
          line.a_multiplier += i, line.b_multiplier += j;
          if (choose_addend(line, near_) && choose_addend(line, pairs_)) return line;
        }
    return slopes_;
  }

 private:
  /// The addend nearest to the slopes' that is right at these pairs; false: there is none.
  bool choose_addend(PairLine& line, const std::vector<Pair>& pairs) const {
    int64_t least = -kMostAddend, most = kMostAddend;
    line.addend = 0;
    for (const auto& [a, b, k] : pairs) {
      const int64_t sum = line.sum(a, b);
      if (k > f_.low) least = std::max(least, (k << line.right) - sum);
      if (k < f_.high) most = std::min(most, ((k + 1) << line.right) - 1 - sum);
    }
    line.exact = least <= most;
    if (line.exact) line.addend = std::clamp(slopes_.addend, least, most);
    return line.exact;
  }

  const PairFunction& f_;
  PairLine slopes_;
  std::vector<Pair> pairs_, near_;
};

}  // namespace

std::optional<PairLine> pair_line_of(const PairFunction& f) {
  double most = std::abs(f.intercept) + 1;
  for (int64_t a : {f.a_low, f.a_high})
    for (int64_t b : {f.b_low, f.b_high}) {
      const double x = f.a_slope * static_cast<double>(a), y = f.b_slope * static_cast<double>(b);
      most = std::max({most, std::abs(x), std::abs(y), std::abs(x + y), std::abs(x + y + f.intercept) + 2});
    }
  if (!(most < 1 << 16)) return {};
  return LineSearch(f, 30 - std::ilogb(most)).run();
}

}  // namespace relaxc
