// bf16_dots.cpp: sums products of bfloat16 two at a time, if one operand is a constant that can be packed for it.
#include <array>

#include "compiler/schedule/primitives/tensorize_bf16_dot.h"
#include "compiler/schedule/strategies/parts/packed_word_sum.h"

namespace relaxc::schedule {
namespace {

Legal<WordsOf> match_bfloats(const Draft& draft) {
  const Target& target = *draft.target;
  RELAXC_FITS(target.bfloat_dots.of(target.vector_bits), "the target has no dot products of bfloat16");
  return match_packed_words(draft, kBFloatWords, "bfloat16");
}

double bfloat_cycles(const Draft& draft, const WordsOf&) {
  return packed_word_cycles(draft, kBFloatWords.terms, 1);
}

Legal<PackedWordSum<TensorizeBFloatDot>> plan_bfloats(const Draft&, const WordsOf& of) {
  return PackedWordSum<TensorizeBFloatDot>{of, "two bfloat16"};
}

}  // namespace

std::span<const Strategy> bf16_dots_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "bf16_dots",
               .stage = Stage::kOperands,
               .priority = 25,
               .doc = "Products of bfloat16 are summed two at a time, by the dot products of the target, where one "
                      "operand is a constant that can be packed in words. Changes the rounding of sums, and flushes "
                      "subnormals.",
               .propose = propose<match_bfloats, kForExplanation<bfloat_cycles>, plan_bfloats>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
