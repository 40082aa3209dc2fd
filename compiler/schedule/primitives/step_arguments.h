// step_arguments.h: the fields of a step as arguments of a trace, and back.
//
// A field's type decides the form of its argument: loops, blocks and buffers are names, which the tree gives and
// resolves; numbers are numbers; what is one of two words is a keyword. `word` is always the field's word of
// StepInfo::arguments: "LOOP", "LOOP|-", "fma|-".
#pragma once

#include <type_traits>

#include "compiler/schedule/primitives/step.h"
#include "compiler/schedule/tree/edit.h"

namespace relaxc::schedule {

/// The words of a step: names, in quotes or not, numbers, and lists in brackets. Illegal where a quote or a bracket is
/// not closed.
Legal<std::vector<std::string_view>> words_of(std::string_view step);

// ---- from a field to its argument

Name argument_of(const Tree& tree, LoopId loop, std::string_view word);
Name argument_of(const Tree& tree, BlockId block, std::string_view word);
Name argument_of(const Tree& tree, BufferRef buffer, std::string_view word);
Names argument_of(const Tree& tree, const BlockIds& blocks, std::string_view word);
Names argument_of(const Tree& tree, const std::vector<uint32_t>& loops, std::string_view word);
Keyword argument_of(const Tree& tree, bool first, std::string_view word);
Keyword argument_of(const Tree& tree, Tail tail, std::string_view word);
inline int64_t argument_of(const Tree&, int64_t number, std::string_view) {
  return number;
}
inline const Numbers& argument_of(const Tree&, const Numbers& numbers, std::string_view) {
  return numbers;
}

/// What the argument of a field of type F is: one of Argument's alternatives.
template <typename F>
using ArgumentOf =
    std::remove_cvref_t<decltype(argument_of(std::declval<const Tree&>(), std::declval<const F&>(), ""))>;

// ---- from an argument to its field. Illegal: the tree has nothing of that name

Legal<> read_argument(const Tree& tree, const Name& name, LoopId& loop);
Legal<> read_argument(const Tree& tree, const Name& name, BlockId& block);
Legal<> read_argument(const Tree& tree, const Name& name, BufferRef& buffer);
Legal<> read_argument(const Tree& tree, const Names& names, BlockIds& blocks);
Legal<> read_argument(const Tree& tree, const Names& names, std::vector<uint32_t>& loops);
/// \param first  whether it is the first of the two words
void read_keyword(bool first, bool& field);
void read_keyword(bool first, Tail& field);

// ---- from a text to an argument

Legal<> parse_argument(std::string_view text, std::string_view word, Name& name);
Legal<> parse_argument(std::string_view text, std::string_view word, Names& names);
Legal<> parse_argument(std::string_view text, std::string_view word, int64_t& number);
Legal<> parse_argument(std::string_view text, std::string_view word, Numbers& numbers);
Legal<> parse_argument(std::string_view text, std::string_view word, Keyword& keyword);

/// Whether it is the first of the words "masked|peeled".
bool is_first_word(const Keyword& keyword, std::string_view words);

template <typename S>
NamedStep named(const Tree& tree, const S& step) {
  NamedStep note{&S::kInfo, {}};
  const std::vector<std::string_view> words = *words_of(S::kInfo.arguments);
  std::apply(
      [&, i = size_t{0}](const auto&... field) mutable {
        (note.arguments.emplace_back(argument_of(tree, field, words[i++])), ...);
      },
      S::fields(step));
  return note;
}

/// \param texts  one for each field
template <typename S>
Legal<NamedStep> parse_arguments(const std::vector<std::string_view>& texts) {
  NamedStep note{&S::kInfo, {}};
  const std::vector<std::string_view> words = *words_of(S::kInfo.arguments);
  auto parse = [&, i = size_t{0}]<typename F>(const F&) mutable -> Legal<> {
    ArgumentOf<F> argument{};
    RELAXC_LEGAL(parse_argument(texts[i], words[i], argument));
    note.arguments.emplace_back(std::move(argument)), ++i;
    return Done{};
  };
  Legal<> parsed = Done{};
  S step;
  std::apply([&](const auto&... field) { ((parsed = parsed ? parse(field) : parsed), ...); }, S::fields(step));
  RELAXC_LEGAL(parsed);
  return note;
}

/// The step with the tree's ids in place of names.
template <typename S>
Legal<S> resolved(const Tree& tree, const NamedStep& note) {
  S step;
  const std::vector<std::string_view> words = *words_of(S::kInfo.arguments);
  auto read = [&, i = size_t{0}]<typename F>(F& field) mutable -> Legal<> {
    const auto& argument = std::get<ArgumentOf<F>>(note.arguments[i]);
    const std::string_view word = words[i++];
    if constexpr (std::is_same_v<ArgumentOf<F>, Keyword>)
      read_keyword(is_first_word(argument, word), field);
    else if constexpr (std::is_same_v<ArgumentOf<F>, F>)
      field = argument;
    else
      return read_argument(tree, argument, field);
    return Done{};
  };
  Legal<> all = Done{};
  std::apply([&](auto&... field) { ((all = all ? read(field) : all), ...); }, S::fields(step));
  RELAXC_LEGAL(all);
  return step;
}

}  // namespace relaxc::schedule
