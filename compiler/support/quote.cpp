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

std::string printable(std::string_view text) {
  std::string out;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    bool control = (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
    out += control ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return out;
}

}  // namespace relaxc
