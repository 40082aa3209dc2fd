// quote.cpp: strings as literals of the text IR.
#include "compiler/support/quote.h"

#include <fmt/format.h>

namespace relaxc {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(byte));
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace relaxc
