// depfile.h: dependency files for make and ninja.
#pragma once

#include <string>
#include <vector>

#include "compiler/support/result.h"

namespace relaxc::api {

/// The position of a path in a rule; `=` in a target or in the first dependency would make the rule an assignment.
enum class RuleSide { kTarget, kFirstDependency, kDependency };

/// Returns a path in make's syntax: blanks, `#`, `:` and wildcards after a backslash, `$` doubled. Empty if make has no
/// escape for it: control characters, `;`, `|`, a backslash, a blank, `&` or `)` at the end, `~`, `=` or `-l` at the
/// beginning.
std::string make_escaped(const std::string& path, RuleSide side);

/// Returns the text of a dependency file: `targets: files…`, and with `phony` an empty rule for each file but the
/// first, where make has a syntax for it. `as_given`, if not empty, is printed before the colon unchanged (-MT may name
/// several targets). Fails (io) on a name that make cannot read; `shown` is the file in messages.
Result<std::string> depfile_text(const std::string& shown, const std::string& as_given,
                                 const std::vector<std::string>& targets, const std::vector<std::string>& files,
                                 bool phony, Diagnostics& diag);

}  // namespace relaxc::api
