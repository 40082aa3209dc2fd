// help_pages.h: the command line as a man page and as completions for shells, made of what the parser itself knows.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace relaxc::driver {

/// A page in section 1, as man(7) macros.
std::string man_page(const CLI::App& app);
/// A script that the shell reads to complete flags, their values, tools and files: "bash", "zsh" or "fish".
std::string completion(const CLI::App& app, const std::string& shell);

}  // namespace relaxc::driver
