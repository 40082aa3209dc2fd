// tensorize_dot4.h: the step `tensorize_dot4`.
#pragma once

#include <optional>
#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// The operand of which tensorize_dot4 makes words, and along which axis.
struct WordsOf {
  BufferRef buffer = nullptr;
  size_t axis = 0;
  int64_t extent = 0;     ///< bytes along the axis
  bool in_lanes = false;  ///< the other operand's bytes are put together for each lane
};

/// Steps of four of the reduction over `loop` become one dot product of bytes: own += i32(a[…]) * i32(b[…, k, …])
/// with a uint8 and b int8. Either k is a's last axis, of a multiple of four; or it is a window of two to four taps
/// over an outer axis, and both operands' last axis is a channel, which is to go into lanes. Words of b along its
/// axis at k take the place of b; the caller provides them. Exact: sums of int32 may be done in any order. Needs
/// can_tensorize_dot4.
struct TensorizeDot4 {
  static constexpr StepInfo kInfo{
      .name = "tensorize_dot4",
      .arguments = "BLOCK LOOP",
      .doc =
          "Products of bytes are summed four at a time, as dot products. The constant among them "
          "must be packed afterwards."};
  BlockId block;
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.block, self.loop); }

  using Made = BufferRef;
  struct Facts {
    WordsOf of;
    size_t operand = 0;  ///< in Tree::operands
  };
  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// Whether it can be done, and then of which buffer and axis words are wanted.
std::optional<WordsOf> can_tensorize_dot4(const Tree& tree, uint32_t block, uint32_t loop);

}  // namespace relaxc::schedule
