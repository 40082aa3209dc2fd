// pack.h: the step `pack`.
#pragma once

#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// Every access of a constant reads a copy of it in panels instead, which is returned; see Packing.
struct Pack {
  static constexpr StepInfo kInfo{
      .name = "pack",
      .arguments = "BUFFER AXIS PANEL ORDER",
      .doc =
          "Stores a constant in panels of PANEL elements along AXIS, with the other axes in the order "
          "of ORDER."};
  BufferRef buffer = nullptr;
  int64_t axis = 0;
  int64_t panel = 1;
  std::vector<int64_t> order;
  static auto fields(auto& self) { return std::tie(self.buffer, self.axis, self.panel, self.order); }

  using Made = BufferRef;
  struct Facts {
    BufferRef param = nullptr, operand = nullptr;  ///< what is packed, and what it is by now (Operand)
    Packing packing;
  };
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

}  // namespace relaxc::schedule
