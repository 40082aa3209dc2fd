// packed_word_sum.h: strategies of Stage::kOperands that take the terms of a sum out of packed words.
#pragma once

#include <string>

#include "compiler/schedule/primitives/packed_words.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// The constant that words are made of; `sums`: what the form adds up, for the reason why there is none.
Legal<WordsOf> match_packed_words(const Draft& draft, const WordForm& form, std::string_view sums);

/// Of sums that take a word of `terms` products by `operations` instructions.
double packed_word_cycles(const Draft& draft, int64_t terms, double operations);

/// The steps behind the one that made `words`.
Legal<> read_packed_words(Draft& draft, const WordsOf& of, BufferRef words);

/// `Step`: {block, loop}, gives the buffer of words.
template <typename Step>
struct PackedWordSum {
  WordsOf of;
  std::string_view terms;  ///< of a word, for people

  std::string text() const { return std::string(terms) + " of " + of.buffer->name + " at a time"; }
  Legal<> carry_out(Draft& draft) const {
    RELAXC_STEP(const BufferRef words, apply(draft.tree, Step{draft.reduction.block, draft.reduction.reduced.back()}));
    return read_packed_words(draft, of, words);
  }
};

}  // namespace relaxc::schedule
