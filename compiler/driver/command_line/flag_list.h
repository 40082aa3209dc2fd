// flag_list.h: lists the flags of a parser for help, man page and completions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace relaxc::driver {

struct Flag {
  std::vector<std::string> names;    ///< with their dashes; the name of a positional argument
  std::string value, text;           ///< `value` is empty if the flag takes none
  std::vector<std::string> choices;  ///< all valid values, if they are a list
  std::vector<std::string> words;    ///< values that a shell completes: the choices, or names among other valid values
  bool or_file = false;              ///< whether a shell completes files as well
  bool positional = false;
  std::string group;  ///< its heading in help
};

/// Returns the flags in the order of declaration.
std::vector<Flag> flags_of(const CLI::App& app);
/// Returns the flags sorted by heading, in the order of each heading's first flag.
std::vector<Flag> by_group(const std::vector<Flag>& flags);
/// Returns the subcommands run, verify, bench, tune and inspect.
std::vector<const CLI::App*> tools_of(const CLI::App& app);

}  // namespace relaxc::driver
