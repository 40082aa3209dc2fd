// tensorize_dot4.h: the step `tensorize_dot4`.
#pragma once

#include "compiler/schedule/primitives/packed_words.h"

namespace relaxc::schedule {

/// Steps of four of the reduction over `loop` become one dot product of bytes: own += i32(a[…]) * i32(b[…, k, …])
/// with a uint8 and b int8. Either k is a's last axis, of a multiple of four; or it is a window of two to four taps
/// over an outer axis, and both operands' last axis is a channel, which is to go into lanes. Words of b along its
/// axis at k take the place of b; the caller provides them. Exact: sums of int32 may be done in any order. Needs
/// find_words(kByteWords).
struct TensorizeDot4 : WordStep {
  static constexpr StepInfo kInfo{
      .name = "tensorize_dot4",
      .arguments = "BLOCK LOOP",
      .doc =
          "Products of bytes are summed four at a time, as dot products. The constant among them "
          "must be packed afterwards."};

  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// Of four unsigned by four signed bytes.
extern const WordForm kByteWords;

}  // namespace relaxc::schedule
