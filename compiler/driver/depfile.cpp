// depfile.cpp: rules for make and ninja.
#include "compiler/driver/depfile.h"

namespace relaxc::driver {
namespace {

std::string escaped(const std::string& path) {
  std::string out;
  for (char c : path) {
    if (c == ' ' || c == '#') out += '\\';
    if (c == '$') out += '$';
    out += c;
  }
  return out;
}

}  // namespace

std::string depfile_text(const std::string& target, const std::vector<std::string>& files, bool phony) {
  std::string text = escaped(target) + ":";
  for (const std::string& file : files) text += " \\\n  " + escaped(file);
  text += "\n";
  if (phony)
    for (size_t i = 1; i < files.size(); ++i) text += "\n" + escaped(files[i]) + ":\n";
  return text;
}

}  // namespace relaxc::driver
