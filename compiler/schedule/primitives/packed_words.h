// packed_words.h: sums whose terms are taken several at a time, out of words that a constant is packed into.
//
// Instructions that sum products of narrow numbers want neighbours along the reduction in one element of each operand,
// while lanes are another axis. A packed constant has them for nothing. The other operand is read in place if the
// reduction is its last axis.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "compiler/schedule/analysis/access.h"
#include "compiler/schedule/primitives/step.h"

namespace relaxc::schedule {

/// The operand that is packed in words, and the axis along which.
struct WordsOf {
  BufferRef buffer = nullptr;
  size_t axis = 0;
  int64_t extent = 0;     ///< elements along the axis
  bool in_lanes = false;  ///< the other operand's elements are put together for each lane
};

/// What one instruction multiplies.
struct WordForm {
  int64_t terms = 4;                               ///< of a word
  int64_t bytes = 4;                               ///< of a word: 4 or 8
  DType sum = DType::i(32);                        ///< what both operands are cast to
  bool (*multiplies)(DType a, DType b) = nullptr;  ///< a in place by b in words
  bool channels = false;  ///< also taps of a window over an outer axis, each lane a channel of its own

  DType word() const { return DType::i(static_cast<uint8_t>(bytes * 8)); }
};

/// own += sum(a[…]) * sum(b[…, k, …]) over `loop`, with dtypes that the form multiplies. Either a's elements are side
/// by side along k, `terms` of them or more (of floats a multiple of `terms`); or it is a window of two to `terms` taps
/// over an outer axis, and both operands' last axis is a channel, which is to go into lanes.
std::optional<WordsOf> find_words(const Tree& tree, uint32_t block, uint32_t loop, const WordForm& form);

struct WordFacts {
  WordsOf of;
  size_t operand = 0;  ///< in Tree::operands
};
/// What the steps that take words have in common: they are for the reduction of a block over a loop, and give the
/// buffer of words.
struct WordStep {
  BlockId block;
  LoopId loop;
  static auto fields(auto& self) { return std::tie(self.block, self.loop); }

  using Made = BufferRef;
  using Facts = WordFacts;
};

/// Whether words can take the place of the operand.
Legal<WordFacts> words_of_sum(const Tree& tree, uint32_t block, uint32_t loop, const WordForm& form);

/// Steps of `terms` of the reduction become one: own += make(a, word), with each element of a (the last may be missing:
/// null) cast to the sum's dtype. Gives the buffer of words, which is to be packed.
BufferRef sum_in_words(Tree& tree, uint32_t loop, const WordFacts& facts, const WordForm& form,
                       const std::function<Expr(std::span<const Expr> a, Expr word)>& make);

}  // namespace relaxc::schedule
