// tensorize_dot8.h: the step `tensorize_dot8`.
#pragma once

#include "compiler/schedule/primitives/packed_words.h"

namespace relaxc::schedule {

/// Steps of eight of the reduction over `loop` become the sum of eight products: own += i32(a[…]) * i32(b[…, k, …])
/// with bytes in both, signed or not, k a's last axis. Words of b along its axis at k take the place of b; the caller
/// provides them. Exact. Needs find_words(kByteOctets).
struct TensorizeDot8 : WordStep {
  static constexpr StepInfo kInfo{
      .name = "tensorize_dot8",
      .arguments = "BLOCK LOOP",
      .doc =
          "Products of bytes, signed or not, are summed eight at a time, for tile_matrix_dots. The constant among "
          "them must be packed afterwards."};

  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// Of eight by eight bytes.
extern const WordForm kByteOctets;

}  // namespace relaxc::schedule
