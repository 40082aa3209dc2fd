// flags.h: the flags of a compilation, each bound to its option; one list for the program and the library.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "compiler/api/compile_options.h"

namespace relaxc::api {

/// The group in `--help` of the flags that determine the object, besides the input and the target. Their text is part
/// of the object's hash, so a new flag of this group needs no other change.
constexpr const char* kObjectFlags = "Object";
constexpr const char* kInputFlags = "Input";
constexpr const char* kTargetFlags = "Target";
constexpr const char* kOutputFlags = "Output";
constexpr const char* kBuildFlags = "Build systems";
constexpr const char* kLimitFlags = "Limits";
constexpr const char* kPassFlags = "Passes";

/// Lets a flag be given several times, with one value each time, so that an argument after it is an input.
inline CLI::Option* repeated(CLI::Option* option, const char* value) {
  return option->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name(value);
}

/// Declares every flag of a compilation; `options` must outlive `app`.
void add_flags(CLI::App& app, CompileOptions& options);

/// Returns the flags of the group kObjectFlags as given, or with their default.
std::vector<std::string> object_flags(const CLI::App& app);

}  // namespace relaxc::api
