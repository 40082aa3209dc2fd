// server.h: the language server: `relaxc lsp`.
#pragma once

#include "compiler/api/compile_options.h"

namespace relaxc::language_server {

/// Serves the editor that writes to `input` and reads from `output`, both file descriptors, until it says `exit` or
/// ends. Returns the exit code of the protocol: 0 if `shutdown` was requested before, else 1.
/// \param options  flags of a compilation, which say for what machine and which dims programs are checked
int serve(const api::CompileOptions& options, int input, int output);

}  // namespace relaxc::language_server
