// output_formats.h: what can be written, and what it is called.
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

/// The format that the extension of a path selects; nothing if it selects none.
std::optional<Emit> format_of_path(const std::string& path);
/// The format that `--emit` calls so; it has to be one of format_names().
Emit format_of_name(const std::string& name);
std::vector<std::string> format_names();
/// ".o .obj .a …, none: a program that runs the model on files", for messages.
std::string format_extensions();

}  // namespace relaxc::api
