// quote.h: strings as literals of the text IR, and as a terminal may show them.
#pragma once

#include <string>
#include <string_view>

namespace relaxc {

/// `text` between double quotes, with what would end or break the line escaped as Python does it. Bytes from 0x80 on
/// stay.
std::string quoted(std::string_view text);

/// Names come from the user's files and may hold anything. One line: what ends one is shown as \\n, a tab as \\t, and
/// what a terminal would obey as \\x1b.
std::string printable(std::string_view text);
/// The same of a line of a source text, whose tabs stay.
std::string printable_line(std::string_view line);

}  // namespace relaxc
