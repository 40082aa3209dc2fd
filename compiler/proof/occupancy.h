// occupancy.h: computes which tensors hold contents at the same time.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace relaxc::proof {

/// A step of a function, and its successors.
struct Step {
  std::vector<size_t> touches;  ///< tensors that it reads or writes
  std::vector<size_t> begins;   ///< tensors that are created here, with unspecified contents, before `touches`
  std::vector<size_t> next;     ///< numbers of the steps that may follow
  /// Pairs of tensors of which the second may overwrite the first during this step, as the program allows.
  std::vector<std::pair<size_t, size_t>> in_place;
};

struct Occupancy {
  /// All pairs of tensors that hold contents at the same time, the smaller number first. A pair of `in_place` is not
  /// among them if the first tensor is not needed after the step and the second is not used before it, unless both hold
  /// contents at some other step, too.
  std::set<std::pair<size_t, size_t>> together;
  std::set<std::pair<size_t, size_t>> shared;  ///< pairs of `in_place` left out for this reason, as given there
};

/// Computes the pairs. A tensor holds contents at a step that uses it, and at every step on a path from one use to
/// another, unless the tensor is created again in between.
Occupancy occupancy(const std::vector<Step>& steps, size_t tensors);

}  // namespace relaxc::proof
