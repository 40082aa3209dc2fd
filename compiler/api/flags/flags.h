// flags.h: the flags of a compilation, each with where its value goes: one list for the program and the library.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "compiler/api/compile_options.h"

namespace relaxc::api {

/// The flags that decide what the object is, beside the input and the target, are in this group of `--help`: their
/// text is part of the object's hash, so that nothing else has to know of a new one.
constexpr const char* kObjectFlags = "Object";
constexpr const char* kInputFlags = "Input";
constexpr const char* kTargetFlags = "Target";
constexpr const char* kOutputFlags = "Output";
constexpr const char* kBuildFlags = "Build systems";
constexpr const char* kLimitFlags = "Limits";
constexpr const char* kPassFlags = "Passes";

/// Makes a flag one that may be given several times, with one value each time: what follows may be an input.
inline CLI::Option* repeated(CLI::Option* option, const char* value) {
  return option->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name(value);
}

/// Declares every flag that compiling has; `options` must outlive `app`.
void add_flags(CLI::App& app, CompileOptions& options);

/// The flags of the group kObjectFlags as they were given, or with their default.
std::vector<std::string> object_flags(const CLI::App& app);

}  // namespace relaxc::api
