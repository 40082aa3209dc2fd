// step_arguments.cpp: see step_arguments.h.
#include "compiler/schedule/primitives/step_arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {
namespace {

constexpr std::string_view kOneOrMore = "LOOP|LOOPS";  ///< in old files a single loop may have no brackets

/// The words on both sides of the bar, such as in "masked|peeled".
std::pair<std::string_view, std::string_view> two_words(std::string_view word) {
  const size_t bar = word.find('|');
  return {word.substr(0, bar), word.substr(bar + 1)};
}

/// The elements of a list "[a, b]".
Legal<std::vector<std::string_view>> list_of(std::string_view text) {
  RELAXC_REQUIRE(text.size() >= 2 && text.front() == '[' && text.back() == ']',
                 fmt::format("'{}' should be a list: [a, b]", text));
  return words_of(text.substr(1, text.size() - 2));
}

}  // namespace

Legal<std::vector<std::string_view>> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  int brackets = 0;
  bool in_quotes = false;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if (in_quotes && c == '\\') {
      ++i;
      continue;
    }
    if (c == '"') in_quotes = !in_quotes;
    if (in_quotes) continue;
    brackets += c == '[' ? 1 : c == ']' ? -1 : 0;
    const bool between = (c == ' ' || c == '\t' || c == '\r' || c == ',') && brackets == 0;
    if (between && i > begin) words.push_back(text.substr(begin, i - begin));
    if (between) begin = i + 1;
  }
  RELAXC_REQUIRE(!in_quotes && brackets == 0, "a quote or a bracket is not closed");
  return words;
}

Name argument_of(const Tree& tree, LoopId loop, std::string_view) {
  return {loop == 0 ? "-" : loop_name(tree, loop)};
}
Name argument_of(const Tree& tree, BlockId block, std::string_view) {
  return {block_name(tree, block)};
}
Name argument_of(const Tree& tree, BufferRef buffer, std::string_view) {
  return {buffer_name(tree, buffer)};
}
Names argument_of(const Tree& tree, const BlockIds& blocks, std::string_view) {
  Names names;
  for (uint32_t id : blocks.ids) names.push_back({name_of_kernel_block(tree, id)});
  return names;
}
Names argument_of(const Tree& tree, const std::vector<uint32_t>& loops, std::string_view) {
  Names names;
  for (uint32_t id : loops) names.push_back({loop_name(tree, id)});
  return names;
}
Keyword argument_of(const Tree&, bool first, std::string_view word) {
  return {std::string(first ? two_words(word).first : two_words(word).second)};
}
Keyword argument_of(const Tree& tree, Tail tail, std::string_view word) {
  return argument_of(tree, tail == Tail::kMask, word);
}

Legal<> read_argument(const Tree& tree, const Name& name, LoopId& loop) {
  if (name.text == "-") return Done{};
  RELAXC_STEP(loop, loop_named(tree, name.text));
  return Done{};
}
Legal<> read_argument(const Tree& tree, const Name& name, BlockId& block) {
  RELAXC_STEP(block, block_named(tree, name.text));
  return Done{};
}
Legal<> read_argument(const Tree& tree, const Name& name, BufferRef& buffer) {
  RELAXC_STEP(buffer, buffer_named(tree, name.text));
  return Done{};
}
Legal<> read_argument(const Tree& tree, const Names& names, BlockIds& blocks) {
  for (const Name& name : names) {
    RELAXC_STEP(const uint32_t id, kernel_block_named(tree, name.text));
    blocks.ids.push_back(id);
  }
  return Done{};
}
Legal<> read_argument(const Tree& tree, const Names& names, std::vector<uint32_t>& loops) {
  for (const Name& name : names) {
    RELAXC_STEP(const uint32_t id, loop_named(tree, name.text));
    loops.push_back(id);
  }
  return Done{};
}
void read_keyword(bool first, bool& field) {
  field = first;
}
void read_keyword(bool first, Tail& field) {
  field = first ? Tail::kMask : Tail::kPeel;
}

Legal<> parse_argument(std::string_view text, std::string_view word, Name& name) {
  RELAXC_REQUIRE(text != "-" || two_words(word).second == "-", fmt::format("'{}' is not the name of a {}", text, word));
  name.text = text;
  return Done{};
}
Legal<> parse_argument(std::string_view text, std::string_view word, Names& names) {
  if (word == kOneOrMore && !text.empty() && text.front() != '[') {
    names.push_back({std::string(text)});
    return Done{};
  }
  RELAXC_STEP(const std::vector<std::string_view> all, list_of(text));
  for (std::string_view one : all) names.push_back({std::string(one)});
  return Done{};
}
Legal<> parse_argument(std::string_view text, std::string_view, int64_t& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  RELAXC_REQUIRE(whole && number >= 0 && number <= std::numeric_limits<int32_t>::max(),
                 fmt::format("'{}' should be a whole number", text));
  return Done{};
}
Legal<> parse_argument(std::string_view text, std::string_view word, Numbers& numbers) {
  RELAXC_STEP(const std::vector<std::string_view> all, list_of(text));
  for (std::string_view one : all) RELAXC_LEGAL(parse_argument(one, word, numbers.emplace_back()));
  return Done{};
}
Legal<> parse_argument(std::string_view text, std::string_view word, Keyword& keyword) {
  const auto [yes, no] = two_words(word);
  RELAXC_REQUIRE(text == yes || text == no, fmt::format("'{}' should be '{}' or '{}'", text, yes, no));
  keyword.text = text;
  return Done{};
}

bool is_first_word(const Keyword& keyword, std::string_view words) {
  return keyword.text == two_words(words).first;
}

}  // namespace relaxc::schedule
