// depfile.h: what an output depends on, in make's words.
#pragma once

#include <string>
#include <vector>

namespace relaxc::driver {

/// The text of a dependency file: `target: files…`, with blanks, `$` and `#` escaped as make wants, and an empty rule
/// for each file but the first if `phony`.
std::string depfile_text(const std::string& target, const std::vector<std::string>& files, bool phony);

}  // namespace relaxc::driver
