// packed_word_sum.h: shared parts of strategies of Stage::kOperands that sum the products of packed words.
#pragma once

#include <string>

#include "compiler/schedule/primitives/packed_words.h"
#include "compiler/schedule/strategies/strategy.h"

namespace relaxc::schedule {

/// The constant that can be packed into words.
///
/// \param sums  names the products that the form adds, for the reason if there is none
Legal<WordsOf> match_packed_words(const Draft& draft, const WordForm& form, std::string_view sums);

/// Estimated cycles of the draft's reduction if `operations` instructions add the `terms` products of a word.
double packed_word_cycles(const Draft& draft, int64_t terms, double operations);

/// Applies the steps after the one that made `words`.
Legal<> read_packed_words(Draft& draft, const WordsOf& of, BufferRef words);

/// A plan that applies `Step`{block, loop}, which makes the buffer of words.
template <typename Step>
struct PackedWordSum {
  WordsOf of;
  std::string_view terms;  ///< names the products of a word, for the text of the plan

  std::string text() const { return std::string(terms) + " of " + of.buffer->name + " at a time"; }
  Legal<> carry_out(Draft& draft) const {
    RELAXC_STEP(const BufferRef words, apply(draft.tree, Step{draft.reduction.block, draft.reduction.reduced.back()}));
    return read_packed_words(draft, of, words);
  }
};

}  // namespace relaxc::schedule
