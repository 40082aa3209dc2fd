// dot_products.cpp: sums products of bytes four at a time, if one operand is a constant that can be
// packed for it.
#include <array>

#include "compiler/schedule/primitives/tensorize_dot4.h"
#include "compiler/schedule/strategies/parts/packed_word_sum.h"

namespace relaxc::schedule {
namespace {

Legal<WordsOf> match_bytes(const Draft& draft) {
  const Target& target = *draft.target;
  RELAXC_FITS(target.dots.of(target.vector_bits) != DotProduct::kNone, "the target has no dot products of bytes");
  return match_packed_words(draft, kByteWords, "bytes");
}

double byte_cycles(const Draft& draft, const WordsOf&) {
  const bool pairs = draft.target->dots.of(draft.target->vector_bits) == DotProduct::kPairs;
  return packed_word_cycles(draft, kByteWords.terms, pairs ? draft.target->pair_dot_operations : 1);
}

Legal<PackedWordSum<TensorizeDot4>> plan_bytes(const Draft&, const WordsOf& of) {
  return PackedWordSum<TensorizeDot4>{of, "four bytes"};
}

struct ReadInPlace {
  static std::string text() { return "operands are read in place"; }
  static Legal<> carry_out(Draft&) { return Done{}; }
};

Legal<Done> match_any(const Draft&) {
  return Done{};
}

double term_cycles(const Draft& draft, const Done&) {
  return packed_word_cycles(draft, 1, 1);
}

Legal<ReadInPlace> plan_read_in_place(const Draft&, const Done&) {
  return ReadInPlace{};
}

}  // namespace

std::span<const Strategy> dot_products_strategies() {
  static constexpr std::array kRows{
      Strategy{.name = "dot_products",
               .stage = Stage::kOperands,
               .priority = 30,
               .doc = "Products of bytes are summed four at a time, by the dot products of the target, where one "
                      "operand is a constant that can be packed in words.",
               .propose = propose<match_bytes, kForExplanation<byte_cycles>, plan_bytes>},
      Strategy{.name = "read_in_place",
               .stage = Stage::kOperands,
               .priority = 10,
               .doc = "Reads operands in place.",
               .propose = propose<match_any, kForExplanation<term_cycles>, plan_read_in_place>},
  };
  return kRows;
}

}  // namespace relaxc::schedule
