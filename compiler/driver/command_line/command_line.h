// command_line.h: parses argv to Options.
#pragma once

#include <optional>

#include "compiler/driver/options.h"

namespace relaxc::driver {

/// The result of parsing the command line: options, or an exit code after help, a version or a usage error has been
/// printed.
struct CommandLine {
  Options options;
  std::optional<int> exit;
};
CommandLine read_command_line(int argc, char** argv);

}  // namespace relaxc::driver
