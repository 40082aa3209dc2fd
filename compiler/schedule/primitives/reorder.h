// reorder.h: the step `reorder`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Puts perfectly nested loops into this order, outermost first. Their iterations must be independent, or the
/// reduction that they belong to marked (`reassociate`).
struct Reorder {
  static constexpr StepInfo kInfo{
      .name = "reorder", .arguments = "LOOPS", .doc = "Puts directly nested loops into this order, outermost first."};
  std::vector<uint32_t> order;
  static auto fields(auto& self) { return std::tie(self.order); }

  using Made = Done;
  using Facts = std::vector<const tir::For*>;
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// Whether the loops are directly inside each other, and may have this order, if not before then once the reduction
/// in the block `marked` is marked (0: no other one will be).
bool can_reorder(const Tree& tree, const std::vector<uint32_t>& order, uint32_t marked = 0);

}  // namespace relaxc::schedule
