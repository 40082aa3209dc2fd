// part.h: a kernel that computes a few elements of its results, for kernels that are too large to run whole.
//
// Neither sizes nor schedules change. Loops of both forms leave out the iterations that compute none of the chosen
// elements, up to 8 indices along each dim, nor anything that these depend on. The first part has the elements where
// errors are likely: the ends of dims, and both sides of the borders between loops; further parts have elements that
// are drawn at random.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/proof/kernels/check_kernel.h"

namespace relaxc::proof {

struct KernelPart {
  ScheduledKernel kernel;
  /// For each buffer parameter, the positions of its chosen elements in row-major order.
  std::vector<std::vector<int64_t>> elements;
};

/// \param scalars  scalar parameters and symbols, which have these `values`
/// \param number  which part, from 0
/// Returns nullopt if the size of a result is not known or too large.
std::optional<KernelPart> part_of(const ScheduledKernel& kernel, const std::vector<arith::Var>& scalars,
                                  const std::vector<int64_t>& values, uint32_t number);

}  // namespace relaxc::proof
