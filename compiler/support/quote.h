// quote.h: escapes strings, for literals of the text IR and for terminals.
#pragma once

#include <string>
#include <string_view>

namespace relaxc {

/// Returns `text` in double quotes, with characters that would end or break the line escaped as in Python. Bytes from
/// 0x80 on are unchanged.
std::string quoted(std::string_view text);

/// Returns `text`, which may contain anything if it is a name from a user's file, as one line that is safe to print:
/// newlines become \\n, tabs \\t, and control characters such as escape \\x1b.
std::string printable(std::string_view text);
/// The same for a line of source text, whose tabs are kept.
std::string printable_line(std::string_view line);

}  // namespace relaxc
