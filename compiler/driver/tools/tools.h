// tools.h: `relaxc run`, `verify`, `bench` and `inspect`.
#pragma once

#include "compiler/driver/options.h"

namespace relaxc::driver {

/// Does what options.tool says and gives the exit code; 1 also if `verify` finds a difference.
int run_tool(const Options& options);

}  // namespace relaxc::driver
