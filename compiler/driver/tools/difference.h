// difference.h: compares a tensor with its expected value.
#pragma once

#include <string>

#include "compiler/relax/interpret.h"

namespace relaxc::driver {

struct Difference {
  std::string fault;  ///< if not empty, dtypes or shapes differ, and nothing else was compared
  int64_t elements = 0;
  int64_t outside = 0;   ///< elements outside of the tolerance
  double max_abs = 0;    ///< infinite if only one of the two is NaN or infinite
  double max_rel = 0;    ///< over elements whose expected value is not 0
  uint64_t max_ulp = 0;  ///< in units in the last place; 0 for integers
  double cosine = 1;     ///< of the angle between both as vectors
  int64_t worst = -1;    ///< the element farthest outside of the tolerance; -1: none
  double worst_actual = 0, worst_expected = 0;

  bool fine() const { return fault.empty() && outside == 0; }
};

/// An element is within tolerance if |actual - expected| <= atol + rtol * |expected|, or both are NaN or equal.
Difference difference(const relax::HostTensor& actual, const relax::HostTensor& expected, double rtol, double atol);

/// Returns "[2, 3]".
std::string shape_text(const std::vector<int64_t>& shape);

}  // namespace relaxc::driver
