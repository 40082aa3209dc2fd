// compile_options.cpp: remarks and cancellation.
#include "compiler/api/compile_options.h"

#include "compiler/support/quote.h"
#include "compiler/support/tell.h"

namespace relaxc::api {

void print_note(const CompileOptions& options, const std::string& text) {
  if (options.remark)
    options.remark(text);
  else
    tell("relaxc: note: {}\n", printable(text));
}

Status check_not_cancelled(const CompileOptions& options, Diagnostics& diag) {
  if (!options.stop || !options.stop()) return Done{};
  return diag.error(nullptr, Kind::cancelled, "the compilation was cancelled");
}

}  // namespace relaxc::api
