// flag_checks.cpp: CLI11's validators with our own messages.
#include "compiler/api/flags/flag_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "compiler/support/suggest.h"

namespace relaxc::api {
namespace {

/// Lists names as text: "run, verify and bench".
std::string enumeration(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names[0];
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

/// Suggests the nearest name, or the first if that is `certain`.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& names, bool certain = false) {
  std::optional<std::string> near = certain ? names.front() : nearest_name(name, names);
  return near ? fmt::format("; did you mean '{}'?", *near) : "";
}

/// A flag of other compilers and tools, and what there is in its place.
struct ForeignFlag {
  std::string_view flag, ours;
};

constexpr ForeignFlag kForeignFlags[] = {
    {"-march", "--mcpu selects the CPU"},
    {"--march", "--mcpu selects the CPU"},
    {"-mcpu", "--mcpu selects the CPU"},
    {"-mtune", "--mcpu selects the CPU"},
    {"-mtriple", "--target selects the machine"},
    {"-c", "-o model.o writes an object"},
    {"-S", "-o model.s writes assembly"},
    {"--shape", "--dim fixes or bounds a dim, as in --dim n=1..8"},
    {"--input-shape", "--dim fixes or bounds a dim, as in --dim n=1..8"},
    {"--batch", "--dim fixes or bounds a dim, as in --dim n=1..8"},
    {"--batch-size", "--dim fixes or bounds a dim, as in --dim n=1..8"},
    {"--fp16", "--mixed-precision float16 narrows what can be"},
    {"--half", "--mixed-precision float16 narrows what can be"},
    {"--bf16", "--mixed-precision bfloat16 narrows what can be"},
    {"--quantize", "quantize the model before, as in docs/quantization.md"},
    {"--int8", "quantize the model before, as in docs/quantization.md"},
    {"--input", "files stand behind the model, in the order of its inputs"},
    {"--inputs", "files stand behind the model, in the order of its inputs"},
};

/// What is meant by a flag that there is not: one of another tool, the only one that begins so, or the nearest.
std::string meant_flag(const std::string& name, const std::vector<std::string>& names) {
  for (const ForeignFlag& row : kForeignFlags)
    if (row.flag == name) return fmt::format("; {}", row.ours);
  constexpr size_t kShortest = 4;  // of a shorter one, every flag is near
  if (name.size() < kShortest) return "";
  std::vector<std::string> longer;
  for (const std::string& candidate : names)
    if (candidate.starts_with(name) && std::find(longer.begin(), longer.end(), candidate) == longer.end())
      longer.push_back(candidate);
  return did_you_mean(name, longer.size() == 1 ? longer : names, longer.size() == 1);
}

void add_names(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::Option* option : app.get_options())
    for (std::string& name : typed_names(*option)) names.push_back(std::move(name));
}

/// Returns the first word that belongs to no flag and no argument.
std::string unexpected(const CLI::App& app) {
  std::vector<std::string> rest = app.remaining(true);
  auto flag = std::find_if(rest.begin(), rest.end(), [](const std::string& word) { return word[0] == '-'; });
  if (flag == rest.end()) return fmt::format("'{}' is one argument too many", rest.empty() ? "" : rest.front());
  std::string name = flag->substr(0, flag->find('='));
  std::vector<std::string> names;
  for (const CLI::App* tool : app.get_subcommands()) add_names(*tool, names);
  add_names(app, names);
  return fmt::format("there is no flag '{}'{}", name, meant_flag(name, names));
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> names) {
  std::string shown = fmt::format("{{{}}}", fmt::join(names, ","));
  auto check = [names = std::move(names)](std::string& value) {
    if (std::find(names.begin(), names.end(), value) != names.end()) return std::string();
    std::string near = value.size() > 1 ? did_you_mean(value, names) : "";
    return fmt::format("'{}' is not one of {}{}", value, enumeration(names), near);
  };
  return {check, shown};
}

CLI::Validator seconds() {
  auto check = [](std::string& text) {
    char* end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    bool fits = end != text.c_str() && *end == '\0' && value > 0 && value <= 1e9;
    return fits ? std::string() : fmt::format("expected seconds, more than 0 and at most 1e9, found '{}'", text);
  };
  return {check, ""};
}

CLI::Validator between(int64_t lower, int64_t upper) {
  auto check = [=](std::string& text) {
    int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::invalid_argument || end != text.data() + text.size())
      return fmt::format("expected an integer, found '{}'", text);
    if (error == std::errc() && value >= lower && value <= upper) return std::string();
    return upper == INT64_MAX ? fmt::format("{} is less than {}", text, lower)
                              : fmt::format("{} is outside {}..{}", text, lower, upper);
  };
  return {check, ""};
}

std::vector<std::string> typed_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  // -MD, for example, is a long option with one dash.
  for (const std::string& name : option.get_lnames())
    names.push_back((name.size() == 2 && name[0] == 'M' ? "-" : "--") + name);
  return names;
}

std::string parse_message(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return unexpected(app);
  std::string text = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr) return text;
  std::string flag = text.substr(0, text.find(':'));
  if (text.find("At Most 1 required") != std::string::npos)
    return fmt::format("{} is given more than once, but takes one value", flag);
  size_t type = text.find("1 required "), missing = text.rfind(" missing");
  if (type == std::string::npos || missing == std::string::npos) return text;
  type += std::string_view("1 required ").size();
  return fmt::format("{} has no value, expected {}", flag, text.substr(type, missing - type));
}

}  // namespace relaxc::api
