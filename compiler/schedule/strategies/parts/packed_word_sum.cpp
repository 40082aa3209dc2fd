// packed_word_sum.cpp: see packed_word_sum.h.
#include "compiler/schedule/strategies/parts/packed_word_sum.h"

#include "compiler/schedule/strategies/parts/reduction_view.h"
#include "compiler/schedule/strategies/parts/vectors.h"

namespace relaxc::schedule {

Legal<WordsOf> match_packed_words(const Draft& draft, const WordForm& form, std::string_view sums) {
  std::optional<WordsOf> of = find_words(draft.tree, draft.reduction.block, draft.reduction.reduced.back(), form);
  RELAXC_FITS(of && (of->in_lanes || of->extent % form.terms == 0),
              "it sums no products of " + std::string(sums) + " that are contiguous in whole words");
  const ReductionView view(draft);
  of->buffer = view.original(of->buffer);
  RELAXC_FITS(view.is_packable(of->buffer), "neither operand is a constant that can be packed");
  return *of;
}

double packed_word_cycles(const Draft& draft, int64_t terms, double operations) {
  return ReductionView(draft).vector_steps() / static_cast<double>(terms) * operations / draft.target->fma_per_cycle;
}

Legal<> read_packed_words(Draft& draft, const WordsOf& of, BufferRef words) {
  draft.reduction.words_of = of;
  draft.reduction.words = words;
  return drop_unit_loops(draft.tree, draft.reduction.reduced);
}

}  // namespace relaxc::schedule
