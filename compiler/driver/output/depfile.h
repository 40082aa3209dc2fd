// depfile.h: what an output depends on, in make's words.
#pragma once

#include <string>
#include <vector>

namespace relaxc::driver {

/// A path as make reads it: blanks, tabs and `#` behind a backslash, `$` doubled.
std::string make_escaped(const std::string& path);

/// The text of a dependency file: `target: files…`, the files escaped and the target as it is (-MT may name several),
/// and an empty rule for each file but the first if `phony`.
std::string depfile_text(const std::string& target, const std::vector<std::string>& files, bool phony);

}  // namespace relaxc::driver
