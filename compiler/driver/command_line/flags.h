// flags.h: the flags of the program, each with where its value goes.
#pragma once

#include <CLI/CLI.hpp>

#include "compiler/driver/options.h"

namespace relaxc::driver {

/// The flags that decide what the object is, beside the input and the target, stand in this group of `--help`: their
/// text is part of the object's hash (command_line.cpp), so that nothing else has to know of a new one.
constexpr const char* kObjectFlags = "Object";

/// Makes a flag one that may be given several times, with one value each time: what follows may be an input.
inline CLI::Option* repeated(CLI::Option* option, const char* value) {
  return option->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name(value);
}

/// Declares every flag that compiling has; `options` must outlive `app`.
void add_flags(CLI::App& app, Options& options);
/// Declares `run`, `verify`, `bench` and `inspect` and their flags.
void add_tools(CLI::App& app, Options& options);

}  // namespace relaxc::driver
