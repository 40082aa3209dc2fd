// unicode.h: handles characters that must not reach a file or terminal unchanged.
//
// Names come from models, which may be hostile: a control character changes what a terminal or a tool shows, and a
// bidirectional one makes an editor show another text than the compiler reads ("Trojan Source", Boucher and Anderson
// 2021).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace relaxc {

/// One character of a UTF-8 text.
struct Character {
  char32_t code = 0;   ///< U+FFFD if the bytes are not UTF-8
  size_t length = 1;   ///< in bytes, at least 1
  bool valid = false;  ///< whether the bytes are UTF-8
};

/// Returns the character at `text[at]`, which must be inside of the text.
Character character_at(std::string_view text, size_t at);

/// Returns whether every program shows the character as a glyph: it is no control, format character (bidirectional,
/// joining, invisible), line separator, variation selector, surrogate or noncharacter.
bool is_visible(const Character& character);

/// Returns `text` with `shown(bytes)` in place of each invisible character and each byte that is not UTF-8.
std::string with_visible(std::string_view text, const std::function<std::string(std::string_view bytes)>& shown);

/// Returns JSON from nlohmann's dump with invisible characters as \uXXXX.
std::string visible_json(std::string_view json);

}  // namespace relaxc
