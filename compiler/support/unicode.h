// unicode.h: characters of names that may not reach a file as they are.
//
// Names come from models, which may be hostile: a control character changes what a terminal or a tool sees, and a
// bidirectional one makes an editor show another text than the compiler reads ("Trojan Source", Boucher and Anderson
// 2021).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace relaxc {

/// One character of a text in UTF-8.
struct Character {
  char32_t code = 0;   ///< U+FFFD where the bytes are not UTF-8
  size_t length = 1;   ///< in bytes, at least 1
  bool valid = false;  ///< whether the bytes are UTF-8
};

/// The character that begins at `text[at]`, which must be inside of the text.
Character character_at(std::string_view text, size_t at);

/// Whether every program shows the character as a mark of its own: no control, no format character (bidirectional,
/// joining, invisible), no separator of lines, no variation selector, no surrogate and no noncharacter.
bool is_visible(const Character& character);

/// `text` with `shown(bytes)` in place of each character that is not visible and of each byte that is not UTF-8.
std::string with_visible(std::string_view text, const std::function<std::string(std::string_view bytes)>& shown);

/// JSON as nlohmann's dump writes it, with characters that are not visible as \uXXXX.
std::string visible_json(std::string_view json);

}  // namespace relaxc
