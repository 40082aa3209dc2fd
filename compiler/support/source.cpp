// source.cpp: computes lines, columns and short names of origins.
#include "compiler/support/source.h"

#include <fmt/format.h>

namespace relaxc {

LineColumn line_column(const TextSpan& span) {
  LineColumn at;
  std::string_view before = std::string_view(span.file->text).substr(0, span.begin);
  for (char c : before) {
    if (c == '\n') {
      ++at.line;
      at.column = 1;
    } else {
      ++at.column;
    }
  }
  return at;
}

std::string short_name(Location location) {
  if (location == nullptr) return "?";
  if (const auto* span = std::get_if<TextSpan>(location)) {
    LineColumn at = line_column(*span);
    return fmt::format("{}:{}:{}", span->file->path, at.line, at.column);
  }
  if (const auto* node = std::get_if<NodeOrigin>(location)) return node->node;
  return std::get<FileOrigin>(*location).file;
}

}  // namespace relaxc
