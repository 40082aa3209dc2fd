// quote.cpp: escapes strings.
#include "compiler/support/quote.h"

#include <fmt/format.h>

#include "compiler/support/unicode.h"

namespace relaxc {
namespace {

std::string hex_escapes(std::string_view bytes) {
  std::string out;
  for (char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return "\"" +
         with_visible(escaped, [](std::string_view bytes) { return bytes == "\n" ? "\\n" : hex_escapes(bytes); }) +
         "\"";
}

std::string printable(std::string_view text) {
  return with_visible(text, [](std::string_view bytes) {
    return bytes == "\n" ? "\\n" : bytes == "\t" ? "\\t" : hex_escapes(bytes);
  });
}

std::string printable_line(std::string_view line) {
  return with_visible(line, [](std::string_view bytes) { return bytes == "\t" ? "\t" : hex_escapes(bytes); });
}

}  // namespace relaxc
