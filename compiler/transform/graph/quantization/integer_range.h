// integer_range.h: between which numbers the elements of an integer tensor are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/relax/graph.h"

namespace relaxc {

/// Bounds of a tensor's elements, for the whole tensor or for each place along one of its axes.
struct IntegerRange {
  std::vector<int64_t> low, high;  ///< of each place; one element: for all of them
  size_t from_end = 0;             ///< the axis, counted from the last

  bool is_single() const { return low.size() == 1; }
  int64_t low_at(size_t place) const { return low[is_single() ? 0 : place]; }
  int64_t high_at(size_t place) const { return high[is_single() ? 0 : place]; }
};

/// What is known of an integer tensor from its dtype, the bounds of quantizations, and the constant weights of the
/// products that it is a sum of; nothing if sums might wrap or the tensor is computed in another way.
std::optional<IntegerRange> integer_range(const relax::Value* value);

/// A constant of integers or floats that is one number, or one for each place along one axis.
struct ChannelNumbers {
  std::vector<double> values;
  size_t from_end = 0;

  double at(size_t place) const { return values[values.size() == 1 ? 0 : place]; }
};
std::optional<ChannelNumbers> channel_numbers(const relax::Value* value);

}  // namespace relaxc
