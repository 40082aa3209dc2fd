// depfile.cpp: prints rules for make and ninja.
//
// A name from a model may contain any byte. Bytes with a meaning in make's syntax (a newline ends the rule, text after
// a semicolon is run) are escaped if GNU make has an escape, and refused otherwise; tests/driver/depfile_test.py runs
// make on every byte.
#include "compiler/api/output/depfile.h"

#include <string_view>

#include "compiler/support/quote.h"

namespace relaxc::api {
namespace {

/// Whether make cannot express a path. Control characters end words and rules, and `;` and `|` have meanings of their
/// own; ~home, =assignment, -llibrary and archive(member) are interpreted as such.
bool cannot_be_said(const std::string& path) {
  if (path.empty() || path.front() == '~' || path.front() == '=' || path.starts_with("-l")) return true;
  for (char c : path)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == ';' || c == '|') return true;
  return std::string_view("\\ &)").find(path.back()) != std::string_view::npos;
}

}  // namespace

/// Backslashes before an escaped character are doubled, as GCC does.
std::string make_escaped(const std::string& path, RuleSide side) {
  if (cannot_be_said(path)) return {};
  if (side != RuleSide::kDependency && path.find('=') != std::string::npos) return {};  // an assignment, escaped or not
  std::string out;
  size_t backslashes = 0;
  for (char c : path) {
    bool escape = std::string_view(" #:*?[").find(c) != std::string_view::npos;
    escape = escape || (side == RuleSide::kTarget && c == '%');
    if (escape) out += std::string(backslashes + 1, '\\');
    if (c == '$') out += '$';
    out += c;
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
  return out;
}

Result<std::string> depfile_text(const std::string& shown, const std::string& as_given,
                                 const std::vector<std::string>& targets, const std::vector<std::string>& files,
                                 bool phony, Diagnostics& diag) {
  auto escaped = [&](const std::string& path, RuleSide side) -> Result<std::string> {
    if (std::string text = make_escaped(path, side); !text.empty()) return text;
    return diag.error(nullptr, Kind::io,
                      "cannot write {}: make cannot express the name '{}'; rename the file or omit -MD", shown,
                      printable(path));
  };
  std::string text = as_given;
  for (const std::string& target : targets) {
    if (!as_given.empty()) break;
    RELAXC_TRY(std::string name, escaped(target, RuleSide::kTarget));
    text += (text.empty() ? "" : " ") + name;
  }
  text += ":";
  for (const std::string& file : files) {
    RELAXC_TRY(std::string name,
               escaped(file, &file == &files.front() ? RuleSide::kFirstDependency : RuleSide::kDependency));
    text += " \\\n  " + name;
  }
  text += "\n";
  for (size_t i = 1; phony && i < files.size(); ++i)
    if (std::string name = make_escaped(files[i], RuleSide::kTarget); !name.empty()) text += "\n" + name + ":\n";
  return text;
}

}  // namespace relaxc::api
