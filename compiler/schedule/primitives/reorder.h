// reorder.h: the step `reorder`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Puts perfectly nested loops into this order, outermost first. Their iterations must be independent, or the
/// reduction that they belong to marked (`reassociate`).
struct Reorder {
  static constexpr StepInfo kInfo{.name = "reorder",
                                  .arguments = "LOOPS",
                                  .doc = "Loops directly inside of each other get this order, outermost first."};
  std::vector<uint32_t> order;
  static auto fields(auto& self) { return std::tie(self.order); }

  using Made = Done;
  using Facts = std::vector<const tir::For*>;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// Whether the loops stand directly inside each other, and may have this order.
bool can_reorder(const Tree& tree, const std::vector<uint32_t>& order);
/// The same once the reduction in `block` is marked.
bool can_reorder_sum(const Tree& tree, uint32_t block, const std::vector<uint32_t>& order);

}  // namespace relaxc::schedule
