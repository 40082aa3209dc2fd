// multiply_shift.cpp: see multiply_shift.h.
//
// A non-decreasing function with results from low to high is given by its thresholds: for each k, the least x with a
// result of k or more. A multiplier m and an addend a give the same function if for each threshold t of k
//
//   (t * m >> s) + a  >=  k << r   and   ((t - 1) * m >> s) + a  <  k << r
//
// so for a given m the addends that work are an interval, whose length is a concave function of m except for rounding.
// The multiplier that rounds the slope is tried first, then those next to it, by ternary search. If float32 differs
// from the line at some threshold, and no line gives its results, the interval is empty, and its middle has the least
// error on either side: only for x that float32 itself has rounded across a tie.
//
// Exact ties, which scales that are powers of two have, are rounded to the even neighbour (to the odd one if the zero
// point is odd), which no line does; for them bit r of the sum decides. That is tried if the line fails.
//
// Rejected: TFLite's mantissa and shift for each channel (Jacob et al., CVPR 2018), which rounds twice and needs a
// shift by a register.
#include "compiler/transform/graph/quantization/multiply_shift.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace relaxc {

namespace {

constexpr int64_t kMostMultiplier = INT32_MAX - 1;
constexpr int kLeastFraction = 10;   // least number of fraction bits of the sum
constexpr int kLeastDigits = 16;     // least number of bits of the largest multiplier
constexpr int kCommonBits = 20;      // of x, if layers are to have the same shifts
constexpr int kCommonFraction = 16;  // bits of the sum: as many channels are exact as with more
constexpr int64_t kMostSteps = 512;  // thresholds that are checked; if there are more, as for 16 bits, only some

int bit_length(double size) {
  return size < 1 ? 0 : std::ilogb(size) + 1;
}

/// One threshold: results are at least k from x on.
struct Threshold {
  int64_t k = 0, x = 0;
};

/// Returns the least x with at(x) >= k, or x_high + 1. The line gives a first guess, which is a few x off.
int64_t first_at_least(const Staircase& f, int64_t k) {
  int64_t below = f.x_low - 1, from = f.x_high + 1;  // at(below) < k <= at(from), as if there were no ends
  double guess = f.slope > 0 ? (static_cast<double>(k) - 0.5 - f.intercept) / f.slope : 0;
  const double least = static_cast<double>(f.x_low), most = static_cast<double>(f.x_high);
  auto near = static_cast<int64_t>(std::clamp(guess, least, most));
  for (int64_t step = 1; near > below && near < from; step *= 4) {
    if (f.at(near) >= k)
      from = near, near -= step;
    else
      below = near, near += step;
  }
  while (from - below > 1) {
    const int64_t middle = below + (from - below) / 2;
    (f.at(middle) >= k ? from : below) = middle;
  }
  return from;
}

std::vector<Threshold> thresholds_of(const Staircase& f, int64_t low, int64_t high) {
  std::vector<Threshold> out;
  const int64_t stride = (high - low) / kMostSteps + 1;
  for (int64_t k = low + 1; k <= high; k += stride) out.push_back({k, first_at_least(f, k)});
  return out;
}

/// The range of addends that keep all thresholds with a multiplier; empty if `low` is above `high`.
struct Addends {
  int64_t low = INT32_MIN, high = INT32_MAX;
  int64_t room() const { return high - low; }
  int64_t middle() const { return low + (high - low) / 2; }
};

class ChannelSearch {
 public:
  ChannelSearch(const Staircase& f, const std::vector<Threshold>& thresholds, const MultiplyShift& form)
      : f_(f), thresholds_(thresholds), form_(form) {}

  std::pair<int64_t, Addends> run() const {
    const double scaled = std::ldexp(f_.slope, form_.product_shift + form_.right);
    int64_t best = std::clamp<int64_t>(std::llround(scaled), 0, kMostMultiplier);
    Addends most = addends(best);
    if (most.room() >= 0) return {best, most};
    int64_t low = std::max<int64_t>(0, best - (best >> 18) - 2);
    int64_t high = std::min(kMostMultiplier, best + (best >> 18) + 2);
    while (low < high) {
      const int64_t a = low + (high - low) / 3, b = high - (high - low) / 3;
      const Addends at_a = addends(a), at_b = addends(b);
      for (const auto& [m, found] : {std::pair(a, at_a), std::pair(b, at_b)})
        if (found.room() > most.room()) best = m, most = found;
      if (most.room() >= 0) break;
      if (at_a.room() < at_b.room())
        low = a + 1;
      else
        high = b - 1;
    }
    return {best, most};
  }

 private:
  Addends addends(int64_t m) const {
    Addends out;
    for (const Threshold& t : thresholds_) {
      const int64_t edge = t.k << form_.right;
      if (t.x <= f_.x_high) out.low = std::max(out.low, edge - form_.product(t.x, m));
      if (t.x > f_.x_low) out.high = std::min(out.high, edge - 1 - form_.product(t.x - 1, m));
    }
    return out;
  }

  const Staircase& f_;
  const std::vector<Threshold>& thresholds_;
  const MultiplyShift& form_;
};

/// Returns the shifts that keep the most digits of multipliers and sums in 32 bits; nothing if these are too few.
std::optional<MultiplyShift> shifts_of(const std::vector<Staircase>& channels, int64_t low, int64_t high,
                                       Multiplication how, Shifts shifts) {
  double most_sum = static_cast<double>(std::max(std::abs(low), std::abs(high))) + 1, most_slope = 0;
  for (const Staircase& f : channels) {
    const double x = static_cast<double>(std::max(std::abs(f.x_low), std::abs(f.x_high)));
    most_sum = std::max(most_sum, f.slope * x + std::abs(f.intercept) + 1);
    most_slope = std::max(most_slope, f.slope);
  }
  int bits = bits_of(channels);
  if (shifts == Shifts::kCommon) bits = std::max(bits, kCommonBits);
  const int sum_bits = bit_length(most_sum);
  if (bits > 30 || sum_bits > 30 - kLeastFraction || !(most_slope > 0)) return {};
  MultiplyShift form;
  form.right = 30 - sum_bits;
  if (shifts == Shifts::kCommon) form.right = std::min(form.right, kCommonFraction);
  // Two parts, each with as many bits as a product with x leaves; three if two would be too few.
  const int part = 31 - bits;
  form.product_shift = how == Multiplication::kParts ? part : 32 - part;
  auto digits = [&] { return bit_length(std::ldexp(most_slope, form.product_shift + form.right)); };
  if (how == Multiplication::kParts && digits() < 22) form.product_shift = 2 * part;
  while (digits() > 30 && form.right > kLeastFraction) --form.right;
  while (how == Multiplication::kParts && digits() > 30 && form.product_shift > 0) --form.product_shift;
  if (digits() > 30 || digits() < kLeastDigits) return {};
  if (how == Multiplication::kRoundedHigh) form.product_half = int64_t{1} << form.product_shift >> 1;
  return form;
}

/// Sets `form` to the line itself with these ties if that gives every result; returns whether it does.
bool keeps_ties(MultiplyShift& form, Ties ties, const std::vector<Staircase>& channels,
                const std::vector<std::vector<Threshold>>& thresholds, int64_t low, int64_t high) {
  MultiplyShift line = form;
  line.ties = ties;
  for (size_t c = 0; c < channels.size(); ++c) {
    const Staircase& f = channels[c];
    line.multipliers[c] = std::llround(std::ldexp(f.slope, form.product_shift + form.right));
    line.addends[c] = std::llround(std::ldexp(f.intercept, form.right)) + line.below_half();
    for (const Threshold& t : thresholds[c])
      for (int64_t x : {t.x - 1, t.x})
        if (x >= f.x_low && x <= f.x_high && line.at(c, x, low, high) != std::clamp(f.at(x), low, high)) return false;
  }
  form = line;
  return true;
}

}  // namespace

int bits_of(const std::vector<Staircase>& channels) {
  int64_t most = 1;
  for (const Staircase& f : channels) most = std::max({most, f.x_high, -f.x_low - 1});
  return std::bit_width(static_cast<uint64_t>(most));
}

int64_t MultiplyShift::at(size_t channel, int64_t x, int64_t low, int64_t high) const {
  int64_t sum = product(x, multipliers[channel]) + addends[channel];
  const int64_t odd = (sum - below_half()) >> right & 1;
  if (ties != Ties::kAnywhere) sum += ties == Ties::kToEven ? odd : 1 - odd;
  return std::clamp(sum >> right, low, high);
}

std::optional<MultiplyShift> multiply_shift_of(const std::vector<Staircase>& channels, int64_t low, int64_t high,
                                               Multiplication how, Shifts shifts) {
  auto form = shifts_of(channels, low, high, how, shifts);
  if (!form) return {};
  std::vector<std::vector<Threshold>> thresholds;
  const bool all_steps = high - low <= kMostSteps;
  form->exact = all_steps;
  for (const Staircase& f : channels) {
    const auto& own = thresholds.emplace_back(thresholds_of(f, low, high));
    const auto [multiplier, addends] = ChannelSearch(f, own, *form).run();
    form->exact_channels.push_back(all_steps && addends.room() >= 0);
    form->exact &= form->exact_channels.back();
    form->multipliers.push_back(multiplier);
    form->addends.push_back(std::clamp<int64_t>(addends.middle(), INT32_MIN, INT32_MAX));
  }
  for (Ties ties : {Ties::kToEven, Ties::kToOdd})
    if (!form->exact && all_steps) form->exact = keeps_ties(*form, ties, channels, thresholds, low, high);
  return form;
}

}  // namespace relaxc
