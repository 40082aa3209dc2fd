// tensorize_bf16_dot.h: the step `tensorize_bf16_dot`.
#pragma once

#include "compiler/schedule/primitives/packed_words.h"

namespace relaxc::schedule {

/// Steps of two of the reduction over `loop` become the sum of two products: own += f32(a[…]) * f32(b[…, k, …]) with
/// bfloat16 in both, k a's last axis. Words of b along its axis at k take the place of b; the caller provides them.
/// Needs find_words(kBFloatWords).
struct TensorizeBFloatDot : WordStep {
  static constexpr StepInfo kInfo{
      .name = "tensorize_bf16_dot",
      .arguments = "BLOCK LOOP",
      .doc =
          "Products of bfloat16 are summed two at a time, as the machine's dot products do, which may flush "
          "subnormals to zero. The constant among them must be packed afterwards. Changes bits.",
      .changes_bits = true,
      .rounds_by_machine = true};

  Legal<Facts> legal(const Tree& tree) const;
  Made apply(Tree& tree, const Facts& facts) const;
};

/// Of two by two bfloat16.
extern const WordForm kBFloatWords;

}  // namespace relaxc::schedule
