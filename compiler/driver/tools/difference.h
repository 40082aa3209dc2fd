// difference.h: how far a tensor is from what it should be.
#pragma once

#include <string>

#include "compiler/relax/interpret.h"

namespace relaxc::driver {

struct Difference {
  std::string fault;  ///< not empty: dtypes or shapes differ, and nothing else was compared
  int64_t elements = 0;
  int64_t outside = 0;   ///< elements beyond the tolerance
  double max_abs = 0;    ///< infinite where only one of two is NaN or infinite
  double max_rel = 0;    ///< of elements that should not be 0
  uint64_t max_ulp = 0;  ///< representable numbers between the two; 0 for integers
  double cosine = 1;     ///< of the angle between both as vectors
  int64_t worst = -1;    ///< the element that is farthest beyond the tolerance; -1: none
  double worst_actual = 0, worst_expected = 0;

  bool fine() const { return fault.empty() && outside == 0; }
};

/// An element is fine if |actual - expected| <= atol + rtol * |expected|, or both are NaN, or the same infinity.
Difference difference(const relax::HostTensor& actual, const relax::HostTensor& expected, double rtol, double atol);

/// "[2, 3]"
std::string shape_text(const std::vector<int64_t>& shape);

}  // namespace relaxc::driver
