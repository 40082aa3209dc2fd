// step_text.h: steps as text and back, made of their fields.
//
// A field's type says how it is written: loops, blocks and buffers by the names that the tree has at that time, numbers
// as such, and what is one of two words by these, as StepInfo::arguments lists them (the first one means true).
#pragma once

#include <type_traits>

#include "compiler/schedule/primitives/step.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

/// The words of a step: names, in quotes or not, numbers, and lists in brackets. Illegal where a quote or a bracket is
/// not closed.
Legal<std::vector<std::string_view>> words_of(std::string_view step);

// `word` is the field's word of StepInfo::arguments: "LOOP", "LOOP|-", "fma|-".

std::string field_text(const Tree& tree, LoopId loop, std::string_view word);
std::string field_text(const Tree& tree, BlockId block, std::string_view word);
std::string field_text(const Tree& tree, const BlockIds& blocks, std::string_view word);
std::string field_text(const Tree& tree, BufferRef buffer, std::string_view word);
std::string field_text(const Tree& tree, const std::vector<uint32_t>& loops, std::string_view word);
std::string field_text(const Tree& tree, const std::vector<int64_t>& numbers, std::string_view word);
std::string field_text(const Tree& tree, int64_t number, std::string_view word);
std::string field_text(const Tree& tree, bool first, std::string_view word);
std::string field_text(const Tree& tree, Tail tail, std::string_view word);

Legal<> read_field(const Tree& tree, std::string_view text, std::string_view word, LoopId& loop);
Legal<> read_field(const Tree& tree, std::string_view text, std::string_view word, BlockId& block);
Legal<> read_field(const Tree& tree, std::string_view text, std::string_view word, BlockIds& blocks);
Legal<> read_field(const Tree& tree, std::string_view text, std::string_view word, BufferRef& buffer);
Legal<> read_field(const Tree& tree, std::string_view text, std::string_view word, std::vector<uint32_t>& loops);
Legal<> read_field(const Tree& tree, std::string_view text, std::string_view word, std::vector<int64_t>& numbers);
Legal<> read_field(const Tree& tree, std::string_view text, std::string_view word, int64_t& number);
Legal<> read_field(const Tree& tree, std::string_view text, std::string_view word, bool& first);
Legal<> read_field(const Tree& tree, std::string_view text, std::string_view word, Tail& tail);

template <typename S>
std::string text_of(const Tree& tree, const S& step) {
  std::string text(S::kInfo.name);
  const std::vector<std::string_view> words = *words_of(S::kInfo.arguments);
  std::apply(
      [&, i = size_t{0}](const auto&... field) mutable { ((text += " " + field_text(tree, field, words[i++])), ...); },
      S::fields(step));
  return text;
}

/// \param texts  one for each field
template <typename S>
Legal<S> read_step(const Tree& tree, const std::vector<std::string_view>& texts) {
  S step;
  const std::vector<std::string_view> words = *words_of(S::kInfo.arguments);
  Legal<> read = Done{};
  std::apply(
      [&, i = size_t{0}](auto&... field) mutable {
        ((read = read ? read_field(tree, texts[i], words[i], field) : read, ++i), ...);
      },
      S::fields(step));
  RELAXC_LEGAL(read);
  return step;
}

}  // namespace relaxc::schedule
