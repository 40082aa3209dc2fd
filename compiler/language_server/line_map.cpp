// line_map.cpp: finds lines by binary search and columns by decoding the line.
#include "compiler/language_server/line_map.h"

#include <algorithm>

#include "compiler/support/unicode.h"

namespace relaxc::language_server {
namespace {

uint64_t code_units(const Character& character) {
  return character.code > 0xFFFF ? 2 : 1;
}

}  // namespace

LineMap::LineMap(const std::string& text) : text_(text), starts_{0} {
  for (size_t i = 0; i < text.size(); ++i) {
    const bool ends = text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
    if (ends) starts_.push_back(i + 1);
  }
}

Position LineMap::position(size_t byte) const {
  byte = std::min(byte, text_.size());
  const auto line = static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), byte) - starts_.begin()) - 1;
  Position found{line, 0};
  for (size_t at = starts_[line]; at < byte;) {
    const Character character = character_at(text_, at);
    if (at + character.length > byte) break;
    found.character += code_units(character);
    at += character.length;
  }
  return found;
}

size_t LineMap::byte(Position position) const {
  if (position.line >= starts_.size()) return text_.size();
  const auto line = static_cast<size_t>(position.line);
  size_t at = starts_[line];
  for (uint64_t units = 0; at < line_end(line);) {
    const Character character = character_at(text_, at);
    units += code_units(character);
    if (units > position.character) break;
    at += character.length;
  }
  return at;
}

size_t LineMap::line_end(size_t line) const {
  size_t end = line + 1 < starts_.size() ? starts_[line + 1] : text_.size();
  while (end > starts_[line] && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
  return end;
}

}  // namespace relaxc::language_server
