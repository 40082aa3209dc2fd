// depfile.cpp: rules for make and ninja.
#include "compiler/driver/output/depfile.h"

namespace relaxc::driver {

/// Backslashes before a character that is escaped are themselves doubled, as GCC does.
std::string make_escaped(const std::string& path) {
  std::string out;
  size_t backslashes = 0;
  for (char c : path) {
    bool escape = c == ' ' || c == '\t' || c == '#';
    if (escape) out += std::string(backslashes + 1, '\\');
    if (c == '$') out += '$';
    out += c;
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
  return out;
}

std::string depfile_text(const std::string& target, const std::vector<std::string>& files, bool phony) {
  std::string text = target + ":";
  for (const std::string& file : files) text += " \\\n  " + make_escaped(file);
  text += "\n";
  if (phony)
    for (size_t i = 1; i < files.size(); ++i) text += "\n" + make_escaped(files[i]) + ":\n";
  return text;
}

}  // namespace relaxc::driver
