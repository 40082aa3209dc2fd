// tools.h: `relaxc run`, `verify`, `bench`, `tune`, `inspect` and `lsp`.
#pragma once

#include "compiler/driver/options.h"

namespace relaxc::driver {

/// Runs the tool of options.tool and returns the exit code, which is 1 also if `verify` finds a difference.
int run_tool(const Options& options);

}  // namespace relaxc::driver
