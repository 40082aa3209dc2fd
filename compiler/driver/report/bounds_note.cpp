// bounds_note.cpp: one sentence for each compilation, whatever the number of functions and dims.
#include "compiler/driver/report/bounds_note.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace relaxc::driver {
namespace {

constexpr size_t kFlagsShown = 4;

/// Quotes text if needed, so that a shell reads it as one word.
std::string shell_word(const std::string& text) {
  auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-.:=/+,@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

/// Lists names, for example "'h', 'w' and 3 more".
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  size_t shown = std::min(names.size(), kFlagsShown);
  for (size_t i = 0; i < shown; ++i) {
    bool last = i + 1 == names.size();
    text += fmt::format("{}'{}'", i == 0 ? "" : last ? " and " : ", ", names[i]);
  }
  return names.size() == shown ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

/// Returns the flag for a symbol's bounds, for example "--dim h=1..512".
std::string flag(const std::string& name, const interface::Symbol& symbol) {
  std::string multiple = symbol.multiple_of > 1 ? fmt::format(":{}", symbol.multiple_of) : "";
  return "--dim " + shell_word(fmt::format("{}={}..{}{}", name, symbol.lower, symbol.upper, multiple));
}

}  // namespace

std::string bounds_note(const std::vector<lower::SuggestedBounds>& helpful, bool several) {
  std::vector<std::string> functions, dims, flags;
  uint64_t bytes = 0;
  for (const lower::SuggestedBounds& one : helpful) {
    functions.push_back(one.function);
    bytes = std::max(bytes, one.arena_max);
    for (const interface::Symbol& symbol : one.symbols) {
      std::string name = several ? one.function + ":" + symbol.name : symbol.name;
      if (std::find(dims.begin(), dims.end(), name) != dims.end()) continue;
      flags.push_back(flag(name, symbol));
      dims.push_back(std::move(name));
    }
  }
  if (dims.empty()) return "";
  bool many = flags.size() > kFlagsShown;
  if (many) flags.resize(kFlagsShown);
  return fmt::format("{} {} no bound, so the arena of {} has none; {}{}, for example, would bound it by {} bytes",
                     listed(dims), dims.size() == 1 ? "has" : "have", listed(functions), fmt::join(flags, " "),
                     many ? " and so on" : "", bytes);
}

}  // namespace relaxc::driver
