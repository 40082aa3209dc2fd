// names.cpp: makes unique Python identifiers.
#include "compiler/tir/names.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace relaxc::tir {
namespace {

/// Python's keywords, and names that the text IR itself uses.
constexpr std::string_view kTaken[] = {
    "False", "None",   "True",    "and",      "as",     "assert", "async", "await",  "break",  "class",  "continue",
    "def",   "del",    "elif",    "else",     "except", "for",    "from",  "global", "if",     "import", "in",
    "is",    "lambda", "finally", "nonlocal", "not",    "or",     "pass",  "raise",  "return", "try",    "while",
    "with",  "yield",  "T",       "R",        "I",      "cls",    "range", "max",    "min",    "float"};

std::string identifier(const std::string& wanted) {
  std::string text;
  for (char c : wanted) {
    bool digit = c >= '0' && c <= '9', letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    text += digit || letter ? c : '_';
  }
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) text = "v" + text;
  return text;
}

}  // namespace

Namer::Namer(bool anonymous) : anonymous_(anonymous) {
  for (std::string_view name : kTaken) used_.emplace(name);
}

std::string Namer::fresh(const std::string& wanted) {
  std::string base = anonymous_ ? "v" : identifier(wanted), name = base;
  for (int& suffix = last_suffix_[base]; !used_.insert(name).second;) name = base + "_" + std::to_string(++suffix);
  return name;
}

std::string Namer::find(const void* identity, const std::string& wanted) {
  auto found = names_.find(identity);
  return found != names_.end() ? found->second : names_[identity] = fresh(wanted);
}

std::string Namer::rebind(const void* identity, const std::string& wanted) {
  auto found = names_.find(identity);
  if (found == names_.end()) {
    names_[identity] = fresh(wanted);
    return {};
  }
  return std::exchange(found->second, fresh(wanted));
}

}  // namespace relaxc::tir
