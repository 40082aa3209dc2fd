// unsupported_aot.h: names of TVMScript that cannot be compiled ahead of time, with the reason.
#pragma once

#include <string_view>

namespace relaxc::frontend {

/// Returns the end of the sentence "'R.emit_te' …" for a name that runs while Python builds a module, that belongs to
/// TVM's virtual machine, or that needs more than one process; empty for any other name.
std::string_view why_unsupported_aot(std::string_view path);

/// Whether `keyword` begins a Python statement (`try`, `del`, …); whether `name` is a Python function (`len`).
bool is_python_statement(std::string_view keyword);
bool is_python_function(std::string_view name);

}  // namespace relaxc::frontend
