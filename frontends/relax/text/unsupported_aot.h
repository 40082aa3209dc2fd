// unsupported_aot.h: names of TVMScript that cannot be compiled ahead of time, and why.
#pragma once

#include <string_view>

namespace relaxc::frontend {

/// The end of the sentence "'R.emit_te' …" for a name that runs while Python builds a module, that belongs to TVM's
/// virtual machine, or that needs more than one process; empty for every other name.
std::string_view why_unsupported_aot(std::string_view path);

/// The same for a statement of Python that begins with `keyword` (`try`, `del`, …) and for functions of Python (`len`).
bool is_python_statement(std::string_view keyword);
bool is_python_function(std::string_view name);

}  // namespace relaxc::frontend
