// sizes.cpp: see sizes.h.
#include "compiler/proof/kernels/sizes.h"

#include <algorithm>

namespace relaxc::proof {

namespace {

constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 47, 64, 65, 100, 129};
constexpr int64_t kLargest = 1024;

/// Returns the admitted values up to 8, or the least one.
std::vector<int64_t> small_values_of(arith::Var var, const arith::Facts& facts) {
  constexpr int64_t kSmall = 8;
  const arith::Range range = facts.range_of(var);
  const arith::Congruence congruence = facts.congruence_of(var);
  auto admits = [&](int64_t value) {
    return congruence.modulus <= 0 || (value - congruence.remainder) % congruence.modulus == 0;
  };
  std::vector<int64_t> values;
  for (int64_t value = std::max<int64_t>(range.lower, 1); value <= std::min(range.upper, kSmall); ++value)
    if (admits(value)) values.push_back(value);
  for (int64_t value = std::max<int64_t>(range.lower, 1); values.empty(); ++value)
    if (admits(value) || value >= range.upper) values.push_back(value);
  return values;
}

/// Returns the admitted values to try for one scalar.
std::vector<int64_t> values_of(arith::Var var, const arith::Facts& facts) {
  const arith::Range range = facts.range_of(var);
  const int64_t factor = std::max<int64_t>(facts.multiple_of(var), 1);
  std::vector<int64_t> values;
  auto add = [&](int64_t value) {
    value = std::max(value, range.lower);
    if (value % factor != 0) value += factor - (value % factor + factor) % factor;
    if (value <= range.upper && value <= std::max(kLargest, range.lower + factor)) values.push_back(value);
  };
  for (const int64_t size : kSizes) add(size);
  for (int64_t i = 1; factor > 1 && i <= 8; ++i) add(i * factor);
  if (range.upper <= kLargest) add(range.upper), add(range.upper - 1);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.empty()) values.push_back(std::max<int64_t>(range.lower, 1));
  return values;
}

}  // namespace

std::vector<std::vector<int64_t>> sizes_to_check(const std::vector<arith::Var>& scalars, const arith::Facts& facts) {
  if (scalars.empty()) return {{}};
  std::vector<std::vector<int64_t>> of_each;
  size_t most = 0;
  for (const arith::Var var : scalars) {
    of_each.push_back(values_of(var, facts));
    most = std::max(most, of_each.back().size());
  }
  std::vector<std::vector<int64_t>> all;
  auto add = [&](auto place_of) {
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < of_each.size(); ++i) sizes.push_back(of_each[i][place_of(i) % of_each[i].size()]);
    if (std::find(all.begin(), all.end(), sizes) == all.end()) all.push_back(std::move(sizes));
  };
  for (size_t k = 0; k < most; ++k) {
    add([&](size_t i) { return std::min(k, of_each[i].size() - 1); });
    if (scalars.size() > 1) add([&](size_t i) { return k * (2 * i + 1) + 5 * i; });
  }
  return all;
}

std::vector<std::vector<int64_t>> small_sizes(const std::vector<arith::Var>& scalars, const arith::Facts& facts) {
  constexpr size_t kMost = 24;
  std::vector<std::vector<int64_t>> of_each;
  size_t combinations = 1;
  for (const arith::Var var : scalars) {
    of_each.push_back(small_values_of(var, facts));
    combinations = std::min(combinations, SIZE_MAX / 16) * of_each.back().size();
  }
  std::vector<std::vector<int64_t>> all;
  const size_t count = std::min(combinations, kMost);
  for (size_t k = 0; k < count; ++k) {
    // The digits of a number, each with the base of its scalar: consecutive numbers, or every 7919th, which is prime.
    size_t number = combinations <= kMost ? k : k * 7919 % combinations;
    std::vector<int64_t>& sizes = all.emplace_back();
    for (const std::vector<int64_t>& values : of_each) {
      sizes.push_back(values[number % values.size()]);
      number /= values.size();
    }
  }
  return all;
}

}  // namespace relaxc::proof
