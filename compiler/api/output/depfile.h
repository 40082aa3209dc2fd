// depfile.h: what an output depends on, in make's words.
#pragma once

#include <string>
#include <vector>

#include "compiler/support/result.h"

namespace relaxc::api {

/// Where in a rule a path is: with `=` in a target or in the first dependency the rule is an assignment to make.
enum class RuleSide { kTarget, kFirstDependency, kDependency };

/// A path as make reads it: blanks, `#`, `:` and wildcards behind a backslash, `$` doubled. Empty if no escape of make
/// says it: control characters, `;`, `|`, a backslash, a blank, `&` or `)` at its end, `~`, `=` or `-l` at its
/// beginning.
std::string make_escaped(const std::string& path, RuleSide side);

/// The text of a dependency file: `targets: files…`, and an empty rule for each file but the first if `phony`, where
/// make can say it. `as_given`: what precedes the colon as it is (-MT may name several); empty: the targets. Fails
/// (io) at a name that make cannot read; `shown` is what messages call the file.
Result<std::string> depfile_text(const std::string& shown, const std::string& as_given,
                                 const std::vector<std::string>& targets, const std::vector<std::string>& files,
                                 bool phony, Diagnostics& diag);

}  // namespace relaxc::api
