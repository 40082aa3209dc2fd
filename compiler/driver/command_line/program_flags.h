// program_flags.h: the flags that only the program has, in addition to those of a compilation (api/flags).
#pragma once

#include <CLI/CLI.hpp>

#include "compiler/driver/options.h"

namespace relaxc::driver {

/// Declares the flags for checking, printing and limits. `options` must outlive `app`.
void add_program_flags(CLI::App& app, Options& options);
/// Declares `run`, `verify`, `bench`, `tune` and `inspect` with their flags.
void add_tools(CLI::App& app, Options& options);

}  // namespace relaxc::driver
