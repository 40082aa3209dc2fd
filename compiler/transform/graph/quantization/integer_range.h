// integer_range.h: bounds of the elements of an integer tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/relax/graph.h"

namespace relaxc {

/// Bounds of a tensor's elements, for all of them or for each index along one axis.
struct IntegerRange {
  std::vector<int64_t> low, high;  ///< for each index; of size one: for all elements
  size_t from_end = 0;             ///< the axis, counted from the last

  bool is_single() const { return low.size() == 1; }
  int64_t low_at(size_t place) const { return low[is_single() ? 0 : place]; }
  int64_t high_at(size_t place) const { return high[is_single() ? 0 : place]; }
};

/// Returns bounds that follow from the tensor's dtype, the clamps of quantizations, and constant weights of the
/// products that it sums; nothing if sums might wrap or the tensor is computed in another way.
std::optional<IntegerRange> integer_range(const relax::Value* value);

/// A constant of integers or floats: one number, or one for each index along one axis.
struct ChannelNumbers {
  std::vector<double> values;
  size_t from_end = 0;

  double at(size_t place) const { return values[values.size() == 1 ? 0 : place]; }
};
std::optional<ChannelNumbers> channel_numbers(const relax::Value* value);

}  // namespace relaxc
