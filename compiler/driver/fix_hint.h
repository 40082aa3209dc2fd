// fix_hint.h: what a message says, taken apart: why, and what to do about it.
#pragma once

#include <string>

#include "compiler/support/diagnostics.h"

namespace relaxc::driver {

struct Advice {
  std::string reason, fix_hint;
};

/// Messages end with the way out behind a semicolon where there is a particular one; the others get that of their kind.
Advice advice_for(const Diagnostic& diagnostic);

}  // namespace relaxc::driver
