// program_flags.h: the flags that only the program has, beside those of a compilation (api/flags).
#pragma once

#include <CLI/CLI.hpp>

#include "compiler/driver/options.h"

namespace relaxc::driver {

/// Declares what a program at a terminal is asked: to check, to print, to keep to limits. `options` must outlive `app`.
void add_program_flags(CLI::App& app, Options& options);
/// Declares `run`, `verify`, `bench`, `tune` and `inspect` and their flags.
void add_tools(CLI::App& app, Options& options);

}  // namespace relaxc::driver
