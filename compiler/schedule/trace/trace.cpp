// trace.cpp: see trace.h.
#include "compiler/schedule/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace relaxc::schedule {
namespace {

/// How a trace parses and replays one alternative of Step.
struct Kind {
  const StepInfo* info;
  Legal<NamedStep> (*parse)(const std::vector<std::string_view>& arguments);
  Legal<> (*replay)(Tree& tree, const NamedStep& step);
};

template <typename S>
Legal<> replay_as(Tree& tree, const NamedStep& step) {
  RELAXC_STEP(const S made, resolved<S>(tree, step));
  RELAXC_LEGAL(apply(tree, made));
  return Done{};
}

template <typename... S>
constexpr auto kinds_of(const std::variant<S...>*) {
  return std::array<Kind, sizeof...(S)>{Kind{&S::kInfo, parse_arguments<S>, replay_as<S>}...};
}
constexpr auto kKinds = kinds_of(static_cast<const Step*>(nullptr));

constexpr auto kInfos = [] {
  std::array<StepInfo, kKinds.size()> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = *kKinds[i].info;
  return all;
}();
static_assert(std::is_sorted(kInfos.begin(), kInfos.end(),
                             [](const StepInfo& a, const StepInfo& b) { return a.name < b.name; }));

struct FormerName {
  std::string_view former, present;
};
/// Former names of steps, so that old schedule files can still be read.
constexpr FormerName kFormerNames[] = {
    {"contract", "scalar_replace"},
    {"minimal_filter", "winograd"},
    {"nest", "focus_nests"},
    {"row_blocks", "strip_mine_rows"},
    {"row_steps", "strip_mine_nests"},
    {"section", "focus_statements"},
    {"share", "distribute"},
    {"sink", "jam_inner"},
    {"whole", "unfocus"},
    {"window_blocks", "fused_conv_pool_tiling"},
};

const Kind* kind_named(std::string_view written) {
  const std::string_view name = current_step_name(written);
  auto found = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& one) { return one.info->name == name; });
  return found == kKinds.end() ? nullptr : &*found;
}

std::string known_names() {
  std::string known;
  for (const StepInfo& one : kInfos) known += (known.empty() ? "" : ", ") + std::string(one.name);
  return known;
}

/// An argument that was added to a step later, and its value for files that lack it.
struct LaterArgument {
  std::string_view step;
  size_t place;
  std::string_view value;
};
/// In the order in which they were added.
constexpr LaterArgument kLaterArguments[] = {
    {"pool_rows", 2, "0"},   {"split_overlapped", 2, "0"}, {"winograd", 4, "0"},
    {"winograd", 6, "4096"}, {"winograd", 7, "16"},
};

/// Arguments were added in this order, so the ones that a file lacks are the last ones.
void add_later_arguments(const StepInfo& info, size_t wanted, std::vector<std::string_view>& arguments) {
  std::vector<LaterArgument> later;
  for (const LaterArgument& one : kLaterArguments)
    if (one.step == info.name) later.push_back(one);
  if (arguments.size() > wanted || wanted - arguments.size() > later.size()) return;
  for (size_t i = later.size() - (wanted - arguments.size()); i < later.size(); ++i)
    arguments.insert(arguments.begin() + static_cast<ptrdiff_t>(later[i].place), later[i].value);
}

template <typename F>
bool any_step(std::string_view trace, F has) {
  const std::vector<StepText> steps = steps_of(trace);
  return std::any_of(steps.begin(), steps.end(), [&](const StepText& step) {
    const Kind* kind = kind_named(step.text.substr(0, step.text.find(' ')));
    return kind != nullptr && has(*kind->info);
  });
}

}  // namespace

std::span<const StepInfo> primitives() {
  return kInfos;
}

std::string_view current_step_name(std::string_view step) {
  for (const FormerName& one : kFormerNames)
    if (one.former == step) return one.present;
  return step;
}

std::vector<StepText> steps_of(std::string_view text) {
  std::vector<StepText> steps;
  bool in_quotes = false, in_comment = false;
  size_t begin = 0;
  auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  auto add = [&](size_t end) {
    while (begin < end && is_blank(text[begin])) ++begin;
    while (end > begin && is_blank(text[end - 1])) --end;
    if (end > begin) steps.push_back({text.substr(begin, end - begin), begin});
  };
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : '\n';
    const bool ends_line = c == '\n', starts_comment = c == '#' && !in_quotes && (i == 0 || is_blank(text[i - 1]));
    if (in_quotes && c == '\\') ++i;
    if (c == '"' && !in_comment) in_quotes = !in_quotes;
    if (!in_comment && (ends_line || starts_comment || (c == ';' && !in_quotes))) add(i), begin = i + 1;
    if (starts_comment) in_comment = true;
    if (ends_line) in_comment = in_quotes = false, begin = i + 1;
  }
  return steps;
}

bool changes_bits(std::string_view trace) {
  return any_step(trace, [](const StepInfo& info) { return info.changes_bits; });
}

bool rounds_by_machine(std::string_view trace) {
  return any_step(trace, [](const StepInfo& info) { return info.rounds_by_machine; });
}

std::string to_string(const NamedStep& step) {
  auto list = [](const auto& all, auto text) {
    std::string texts;
    for (const auto& one : all) texts += (texts.empty() ? "" : ", ") + text(one);
    return "[" + texts + "]";
  };
  std::string text(step.primitive->name);
  for (const Argument& argument : step.arguments) {
    text += ' ';
    if (const auto* name = std::get_if<Name>(&argument)) text += name->text;
    if (const auto* word = std::get_if<Keyword>(&argument)) text += word->text;
    if (const auto* number = std::get_if<int64_t>(&argument)) text += std::to_string(*number);
    if (const auto* names = std::get_if<Names>(&argument)) text += list(*names, [](const Name& n) { return n.text; });
    if (const auto* numbers = std::get_if<Numbers>(&argument))
      text += list(*numbers, [](int64_t n) { return std::to_string(n); });
  }
  return text;
}

std::string to_string(const Trace& trace, std::string_view separator) {
  std::string text;
  for (const auto& step : trace) text.append(text.empty() ? "" : separator).append(to_string(*step));
  return text;
}

Legal<NamedStep> parse_step(std::string_view text) {
  RELAXC_STEP(const std::vector<std::string_view> words, words_of(text));
  RELAXC_REQUIRE(!words.empty(), "a step starts with the name of a primitive");
  const Kind* kind = kind_named(words[0]);
  RELAXC_REQUIRE(kind != nullptr,
                 fmt::format("there is no primitive '{}'; the primitives are {}", words[0], known_names()));
  const StepInfo& info = *kind->info;
  const std::vector<std::string_view> wanted = *words_of(info.arguments);
  std::vector<std::string_view> arguments(words.begin() + 1, words.end());
  add_later_arguments(info, wanted.size(), arguments);
  RELAXC_REQUIRE(arguments.size() == wanted.size(),
                 fmt::format("'{}' has {} arguments, found {}: {} {}", info.name, wanted.size(), arguments.size(),
                             info.name, info.arguments));
  return kind->parse(arguments);
}

Legal<> replay(Tree& tree, const NamedStep& step) {
  return kind_named(step.primitive->name)->replay(tree, step);
}

Legal<> apply_text(Tree& tree, std::string_view text) {
  RELAXC_STEP(const NamedStep step, parse_step(text));
  return replay(tree, step);
}

}  // namespace relaxc::schedule
