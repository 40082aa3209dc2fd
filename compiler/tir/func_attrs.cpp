// func_attrs.cpp: the table of attributes, and checks of the parameters that they name.
#include "compiler/tir/func_attrs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace relaxc::tir {
namespace {

using arith::Range;

template <typename Int>
bool parse_number(std::string_view text, Int& out) {
  Int value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  out = value;
  return true;
}

/// Calls `item` with each word of `text`. Stops and returns false if it returns false.
template <typename Item>
bool for_each_word(std::string_view text, const Item& item) {
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    if (!item(text.substr(0, end))) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

std::string to_text(Range range) {
  return fmt::format("{}..{}", range.has_lower() ? std::to_string(range.lower) : "",
                     range.has_upper() ? std::to_string(range.upper) : "");
}

bool parse_range(std::string_view text, Range& out) {
  size_t dots = text.find("..");
  if (dots == std::string_view::npos) return false;
  std::string_view lower = text.substr(0, dots), upper = text.substr(dots + 2);
  return (lower.empty() || parse_number(lower, out.lower)) && (upper.empty() || parse_number(upper, out.upper));
}

using Text = std::optional<std::string>;

/// The text of a field; nothing if it is the default, "" or an empty list.
Text unless_empty(std::string text) {
  return text.empty() ? std::nullopt : Text(std::move(text));
}

Text number_if(bool set, int64_t number) {
  return set ? Text(std::to_string(number)) : std::nullopt;
}

Text print_ranges(const PrimFunc& f) {
  std::vector<std::string> texts;
  for (Range range : f.checks.ranges) texts.push_back(to_text(range));
  return unless_empty(fmt::format("{}", fmt::join(texts, " ")));
}

bool parse_ranges(PrimFunc& f, std::string_view text) {
  std::vector<Range> ranges;
  bool fits = for_each_word(text, [&](std::string_view word) { return parse_range(word, ranges.emplace_back()); });
  if (fits) f.checks.ranges = std::move(ranges);
  return fits;
}

Text print_numbers(const std::vector<size_t>& numbers) {
  return unless_empty(fmt::format("{}", fmt::join(numbers, " ")));
}

bool parse_numbers(std::vector<size_t>& numbers, std::string_view text) {
  std::vector<size_t> read;
  bool fits = for_each_word(text, [&](std::string_view word) { return parse_number(word, read.emplace_back()); });
  if (fits) numbers = std::move(read);
  return fits;
}

Text print_overlaps(const PrimFunc& f) {
  std::vector<std::string> texts;
  for (const Overlap& overlap : f.memory.overlaps)
    texts.push_back(fmt::format("{}:{}{}", overlap.input, overlap.behind ? "+" : "-", overlap.distance));
  return unless_empty(fmt::format("{}", fmt::join(texts, " ")));
}

bool parse_overlap(std::string_view text, Overlap& out) {
  const size_t sign = text.find_first_of("+-");
  if (sign == std::string_view::npos || sign == 0 || text[sign - 1] != ':') return false;
  out.behind = text[sign] == '+';
  return parse_number(text.substr(0, sign - 1), out.input) && parse_number(text.substr(sign + 1), out.distance) &&
         out.distance >= 0;
}

bool parse_overlaps(PrimFunc& f, std::string_view text) {
  std::vector<Overlap> read;
  bool fits = for_each_word(text, [&](std::string_view word) { return parse_overlap(word, read.emplace_back()); });
  if (fits) f.memory.overlaps = std::move(read);
  return fits;
}

bool parse_flag(bool& flag, std::string_view text) {
  flag = text == "1" || text == "True";
  return flag || text == "0" || text == "False";
}

bool parse_code(PrimFunc& f, std::string_view text) {
  int32_t code = 0;
  if (!parse_number(text, code) || code <= 0) return false;
  f.checks.overflow_code = code;
  return true;
}

bool parse_arena(PrimFunc& f, std::string_view text) {
  size_t param = 0;
  if (!parse_number(text, param)) return false;
  f.host.arena = param;
  return true;
}

constexpr std::string_view kOtherRounding = "changed";

Text print_rounding(const PrimFunc& f) {
  if (!f.rounding) return std::nullopt;
  return f.rounding->narrowed ? to_string(*f.rounding->narrowed) : std::string(kOtherRounding);
}

bool parse_rounding(PrimFunc& f, std::string_view text) {
  std::optional<DType> dtype = parse_dtype(std::string(text));
  if (!dtype && text != kOtherRounding) return false;
  f.rounding = Rounding{dtype};
  return true;
}

constexpr FuncAttr kAttrs[] = {
    {.name = "arena",
     .form = "the index of a parameter",
     .print = [](const PrimFunc& f) { return number_if(f.is_host(), static_cast<int64_t>(f.host.arena.value_or(0))); },
     .parse = parse_arena},
    {.name = "checked_index",
     .form = "a status code above 0",
     .print = [](const PrimFunc& f) { return number_if(f.checks.overflow_code != 0, f.checks.overflow_code); },
     .parse = parse_code},
    {.name = "choices",
     .form = "what is chosen at points of the schedule",
     .print = [](const PrimFunc& f) { return f.schedule.choices; },
     .parse = [](PrimFunc& f, std::string_view text) { return f.schedule.choices = text, true; }},
    {.name = "copies",
     .form = "\"1\" or \"0\"",
     .print = [](const PrimFunc& f) { return number_if(f.memory.copies, 1); },
     .parse = [](PrimFunc& f, std::string_view text) { return parse_flag(f.memory.copies, text); }},
    {.name = "error_node",
     .form = "the number of a node",
     .print = [](const PrimFunc& f) { return number_if(f.checks.error_node >= 0, f.checks.error_node); },
     .parse = [](PrimFunc& f, std::string_view text) { return parse_number(text, f.checks.error_node); }},
    {.name = "frame_of",
     .form = "the name of a prim func",
     .print = [](const PrimFunc& f) { return unless_empty(f.host.frame_of); },
     .parse = [](PrimFunc& f, std::string_view text) { return f.host.frame_of = text, true; }},
    {.name = "in_place",
     .form = "indices of parameters (\"0 2\")",
     .print = [](const PrimFunc& f) { return print_numbers(f.memory.in_place); },
     .parse = [](PrimFunc& f, std::string_view text) { return parse_numbers(f.memory.in_place, text); }},
    {.name = "index_ranges",
     .form = "a range for each scalar parameter, then each symbol (\"1..12 0.. ..\")",
     .print = print_ranges,
     .parse = parse_ranges},
    {.name = "overlapping",
     .form = "indices of parameters (\"0 2\")",
     .print = [](const PrimFunc& f) { return print_numbers(f.memory.overlapping); },
     .parse = [](PrimFunc& f, std::string_view text) { return parse_numbers(f.memory.overlapping, text); }},
    {.name = "overlaps",
     .form = "indices of parameters with distances in bytes (\"0:-64 2:+128\")",
     .print = print_overlaps,
     .parse = parse_overlaps},
    {.name = "rounding", .form = "\"changed\" or a dtype", .print = print_rounding, .parse = parse_rounding},
    {.name = "schedule",
     .form = "steps of a schedule",
     .print = [](const PrimFunc& f) { return unless_empty(f.schedule.steps); },
     .parse = [](PrimFunc& f, std::string_view text) { return f.schedule.steps = text, true; }},
    {.name = "schedule_remark",
     .form = "why there is no schedule",
     .print = [](const PrimFunc& f) { return unless_empty(f.schedule.remark); },
     .parse = [](PrimFunc& f, std::string_view text) { return f.schedule.remark = text, true; }},
    {.name = "scratch",
     .form = "a number of parameters",
     .print =
         [](const PrimFunc& f) { return number_if(f.memory.scratch != 0, static_cast<int64_t>(f.memory.scratch)); },
     .parse = [](PrimFunc& f, std::string_view text) { return parse_number(text, f.memory.scratch); }},
};

bool is_buffer(const PrimFunc& f, size_t param) {
  return param < f.params.size() && f.params[param].buffer != nullptr;
}

}  // namespace

std::span<const FuncAttr> func_attrs() {
  return kAttrs;
}

const FuncAttr* find_func_attr(std::string_view name) {
  auto row = std::find_if(std::begin(kAttrs), std::end(kAttrs), [&](const FuncAttr& a) { return a.name == name; });
  return row == std::end(kAttrs) ? nullptr : row;
}

std::map<std::string, std::string> attribute_texts(const PrimFunc& function) {
  std::map<std::string, std::string> texts = function.attrs;
  for (const FuncAttr& row : kAttrs)
    if (Text text = row.print(function)) texts[std::string(row.name)] = std::move(*text);
  return texts;
}

std::string fault_of_attributes(const PrimFunc& f) {
  if (f.is_host() && !is_buffer(f, *f.host.arena))
    return fmt::format("'arena' is parameter {}, which is not a buffer", *f.host.arena);
  for (size_t param : f.memory.in_place)
    if (!is_buffer(f, param)) return fmt::format("'in_place' names parameter {}, which is not a buffer", param);
  for (size_t param : f.memory.overlapping)
    if (!is_buffer(f, param)) return fmt::format("'overlapping' names parameter {}, which is not a buffer", param);
  for (const Overlap& overlap : f.memory.overlaps)
    if (!is_buffer(f, overlap.input))
      return fmt::format("'overlaps' names parameter {}, which is not a buffer", overlap.input);
  auto buffers = static_cast<size_t>(
      std::count_if(f.params.begin(), f.params.end(), [](const Param& p) { return p.buffer != nullptr; }));
  if (f.memory.scratch > buffers)
    return fmt::format("'scratch' is {}, but there are {} buffers", f.memory.scratch, buffers);
  if (f.memory.copies && !(is_buffer(f, 0) && is_buffer(f, 1))) return "'copies' needs two buffers to begin with";
  const size_t scalars = f.params.size() - buffers + f.symbols.size();
  if (f.checks.ranges.size() > scalars)
    return fmt::format("'index_ranges' has {} ranges, but there are {} scalars", f.checks.ranges.size(), scalars);
  return {};
}

}  // namespace relaxc::tir
