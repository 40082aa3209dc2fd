// line_map.h: converts between bytes of a text and positions of the language server protocol.
//
// The protocol counts lines from 0, and columns in UTF-16 code units, whatever the encoding of the file. An editor may
// send any position: one beyond the end of its line, or of the text, means that end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace relaxc::language_server {

/// A position in a text, both numbers from 0.
struct Position {
  uint64_t line = 0;
  uint64_t character = 0;  ///< in UTF-16 code units
};

class LineMap {
 public:
  /// `text` must outlive the map. A line ends with "\n", "\r\n" or "\r".
  explicit LineMap(const std::string& text);

  /// Returns the position of a byte. A byte inside of a character has the position of the character.
  Position position(size_t byte) const;
  /// Returns the byte at a position. A position in the middle of a surrogate pair is that of its character.
  size_t byte(Position position) const;

 private:
  size_t line_end(size_t line) const;

  const std::string& text_;
  std::vector<size_t> starts_;  ///< the first byte of each line
};

}  // namespace relaxc::language_server
