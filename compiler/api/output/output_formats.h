// output_formats.h: the output formats, their names and extensions.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace relaxc::api {

enum class Emit {
  kObject,
  kAssembly,
  kLLVM,
  kBitcode,
  kC,
  kSharedLibrary,
  kText,
  kArchive,
  kExecutable,
  kDot,
  kJavaScript
};

/// Returns the format of a path's extension; nullopt if there is none for it.
std::optional<Emit> format_of_path(const std::string& path);
/// Returns the format of a value of `--emit`, which must be one of format_names().
Emit format_of_name(const std::string& name);
std::vector<std::string> format_names();
/// Returns ".o .obj .a …, none: a program that runs the model on files", for messages.
std::string format_extensions();

}  // namespace relaxc::api
