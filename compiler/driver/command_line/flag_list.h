// flag_list.h: the flags that a parser knows, as help, man page and completions show them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace relaxc::driver {

struct Flag {
  std::vector<std::string> names;    ///< with their dashes; of a positional its name
  std::string value, text;           ///< `value` empty: takes none
  std::vector<std::string> choices;  ///< all that it may be, where that is a list
  std::vector<std::string> words;    ///< what a shell offers: the choices, or names among much else that it may be
  bool or_file = false;              ///< a shell offers files beside `words`
  bool positional = false;
  std::string group;  ///< the heading that it is under
};

/// In the order of declaration.
std::vector<Flag> flags_of(const CLI::App& app);
/// The same with the flags of one heading behind each other, wherever they are declared.
std::vector<Flag> by_group(const std::vector<Flag>& flags);
/// run, verify, bench, tune and inspect.
std::vector<const CLI::App*> tools_of(const CLI::App& app);

}  // namespace relaxc::driver
