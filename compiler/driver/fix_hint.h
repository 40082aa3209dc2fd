// fix_hint.h: splits a message into the reason and the advice.
#pragma once

#include <string>

#include "compiler/support/diagnostics.h"

namespace relaxc::driver {

struct Advice {
  std::string reason, fix_hint;
};

/// Returns the advice after a message's semicolon, if it has one; else that of the message's kind.
Advice advice_for(const Diagnostic& diagnostic);

}  // namespace relaxc::driver
