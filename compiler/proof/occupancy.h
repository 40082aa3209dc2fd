// occupancy.h: which tensors hold contents at one time.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace relaxc::proof {

/// One step of a function, and what may follow it.
struct Step {
  std::vector<size_t> touches;  ///< tensors that it reads or writes
  std::vector<size_t> begins;   ///< tensors that come into being here, with unspecified contents, before it touches any
  std::vector<size_t> next;     ///< steps
  /// Tensors of which the first may be overwritten by the second while this step reads it, since the program says so.
  std::vector<std::pair<size_t, size_t>> in_place;
};

struct Occupancy {
  /// Each two tensors that hold contents at one time, the smaller number first. Not among them: the two of an
  /// `in_place`, where the first is not needed after the step and the second was not touched before it, unless they
  /// hold contents together at another step.
  std::set<std::pair<size_t, size_t>> together;
  std::set<std::pair<size_t, size_t>> shared;  ///< those of `in_place` that were left out so, as they were given
};

/// A tensor holds contents at a step that touches it, and at every step that lies on a way from one that touches it to
/// another, unless the tensor begins anew in between.
Occupancy occupancy(const std::vector<Step>& steps, size_t tensors);

}  // namespace relaxc::proof
