// output_formats.cpp: the one table of output formats, their names and their extensions.
#include "compiler/api/output/output_formats.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "compiler/support/check.h"

namespace relaxc::api {
namespace {

struct Format {
  Emit emit;
  const char* name;        ///< as in --emit
  const char* extensions;  ///< separated by blanks; an executable may have none
};

constexpr Format kFormats[] = {
    {Emit::kObject, "obj", ".o .obj"},
    {Emit::kArchive, "ar", ".a .lib"},
    {Emit::kAssembly, "asm", ".s"},
    {Emit::kLLVM, "llvm", ".ll"},
    {Emit::kBitcode, "bc", ".bc"},
    {Emit::kC, "c", ".c"},
    {Emit::kSharedLibrary, "shared", ".so .dll .dylib .wasm"},
    {Emit::kText, "relax", ".relax"},
    {Emit::kDot, "dot", ".dot"},
    {Emit::kExecutable, "exe", ".exe"},
    {Emit::kJavaScript, "js", ".mjs"},
};

bool has_extension(const Format& format, std::string_view extension) {
  std::string_view all = format.extensions;
  while (true) {
    size_t blank = std::min(all.find(' '), all.size());
    if (all.substr(0, blank) == extension) return true;
    if (blank == all.size()) return false;
    all.remove_prefix(blank + 1);
  }
}

}  // namespace

std::optional<Emit> format_of_path(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  for (const Format& format : kFormats)
    if (has_extension(format, extension) || (extension.empty() && format.emit == Emit::kExecutable)) return format.emit;
  return std::nullopt;
}

Emit format_of_name(const std::string& name) {
  const Format* format =
      std::find_if(std::begin(kFormats), std::end(kFormats), [&](const Format& f) { return f.name == name; });
  RELAXC_CHECK(format != std::end(kFormats), "no format has this name");
  return format->emit;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

std::string format_extensions() {
  std::string text;
  for (const Format& format : kFormats)
    if (format.emit != Emit::kExecutable) text += (text.empty() ? "" : " ") + std::string(format.extensions);
  return text + ", none (or .exe) for a program that runs the model on files";
}

}  // namespace relaxc::api
