// command_line.h: from argv to Options.
#pragma once

#include <optional>

#include "compiler/driver/options.h"

namespace relaxc::driver {

/// What reading the command line gave: options, or an exit code (after help, a version, or a usage error that was
/// printed).
struct CommandLine {
  Options options;
  std::optional<int> exit;
};
CommandLine read_command_line(int argc, char** argv);

}  // namespace relaxc::driver
