// help_pages.h: generates a man page and shell completions from the parser's flags.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace relaxc::driver {

/// Returns a page of section 1, as man(7) macros.
std::string man_page(const CLI::App& app);
/// Returns a script for "bash", "zsh" or "fish" that completes flags, their values, tools and files.
std::string completion(const CLI::App& app, const std::string& shell);

}  // namespace relaxc::driver
