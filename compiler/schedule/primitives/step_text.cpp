// step_text.cpp: see step_text.h.
#include "compiler/schedule/primitives/step_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <limits>

#include "compiler/schedule/tree/names.h"

namespace relaxc::schedule {
namespace {

/// "masked|peeled": the words on both sides of the bar.
std::pair<std::string_view, std::string_view> two_words(std::string_view word) {
  const size_t bar = word.find('|');
  return {word.substr(0, bar), word.substr(bar + 1)};
}

/// The elements of "[a, b]".
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

std::string field_text(const Tree& tree, LoopId loop, std::string_view) {
  return loop == 0 ? "-" : loop_name(tree, loop);
}
std::string field_text(const Tree& tree, BlockId block, std::string_view) {
  return block_name(tree, block);
}
std::string field_text(const Tree& tree, const BlockIds& blocks, std::string_view) {
  std::vector<std::string> names;
  for (uint32_t id : blocks.ids) names.push_back(name_of_kernel_block(tree, id));
  return fmt::format("[{}]", fmt::join(names, ", "));
}
std::string field_text(const Tree& tree, BufferRef buffer, std::string_view) {
  return buffer_name(tree, buffer);
}
std::string field_text(const Tree& tree, const std::vector<uint32_t>& loops, std::string_view) {
  return loop_names(tree, loops);
}
std::string field_text(const Tree&, const std::vector<int64_t>& numbers, std::string_view) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}
std::string field_text(const Tree&, int64_t number, std::string_view) {
  return std::to_string(number);
}
std::string field_text(const Tree&, bool first, std::string_view word) {
  return std::string(first ? two_words(word).first : two_words(word).second);
}
std::string field_text(const Tree& tree, Tail tail, std::string_view word) {
  return field_text(tree, tail == Tail::kMask, word);
}

Legal<> read_field(const Tree& tree, std::string_view text, std::string_view word, LoopId& loop) {
  if (text == "-" && two_words(word).second == "-") return Done{};
  RELAXC_STEP(loop, loop_named(tree, text));
  return Done{};
}
Legal<> read_field(const Tree& tree, std::string_view text, std::string_view, BlockId& block) {
  RELAXC_STEP(block, block_named(tree, text));
  return Done{};
}
Legal<> read_field(const Tree& tree, std::string_view text, std::string_view, BlockIds& blocks) {
  RELAXC_STEP(const std::vector<std::string_view> names, list_of(text));
  for (std::string_view name : names) {
    RELAXC_STEP(const uint32_t id, kernel_block_named(tree, name));
    blocks.ids.push_back(id);
  }
  return Done{};
}
Legal<> read_field(const Tree& tree, std::string_view text, std::string_view, BufferRef& buffer) {
  RELAXC_STEP(buffer, buffer_named(tree, text));
  return Done{};
}
Legal<> read_field(const Tree& tree, std::string_view text, std::string_view, std::vector<uint32_t>& loops) {
  RELAXC_STEP(const std::vector<std::string_view> names, list_of(text));
  for (std::string_view name : names) {
    RELAXC_STEP(const uint32_t id, loop_named(tree, name));
    loops.push_back(id);
  }
  return Done{};
}
Legal<> read_field(const Tree& tree, std::string_view text, std::string_view word, std::vector<int64_t>& numbers) {
  RELAXC_STEP(const std::vector<std::string_view> all, list_of(text));
  for (std::string_view one : all) RELAXC_LEGAL(read_field(tree, one, word, numbers.emplace_back()));
  return Done{};
}
Legal<> read_field(const Tree&, std::string_view text, std::string_view, int64_t& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  RELAXC_REQUIRE(whole && number >= 0 && number <= std::numeric_limits<int32_t>::max(),
                 fmt::format("'{}' should be a whole number", text));
  return Done{};
}
Legal<> read_field(const Tree&, std::string_view text, std::string_view word, bool& first) {
  const auto [yes, no] = two_words(word);
  first = text == yes;
  RELAXC_REQUIRE(first || text == no, fmt::format("'{}' should be '{}' or '{}'", text, yes, no));
  return Done{};
}
Legal<> read_field(const Tree& tree, std::string_view text, std::string_view word, Tail& tail) {
  bool masked = false;
  RELAXC_LEGAL(read_field(tree, text, word, masked));
  tail = masked ? Tail::kMask : Tail::kPeel;
  return Done{};
}

}  // namespace relaxc::schedule
