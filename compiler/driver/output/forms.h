// forms.h: what can be written, and what it is called.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace relaxc::driver {

enum class Emit { kObject, kAssembly, kLLVM, kBitcode, kC, kSharedLibrary, kText, kArchive, kExecutable, kDot };

/// The form that the ending of a path says; nothing if it says none.
std::optional<Emit> form_of_path(const std::string& path);
/// The form that `--emit` calls so; it has to be one of names_of_forms().
Emit form_of_name(const std::string& name);
std::vector<std::string> names_of_forms();
/// ".o .obj .a …, none: a program that runs the model on files", for messages.
std::string endings_of_forms();

}  // namespace relaxc::driver
