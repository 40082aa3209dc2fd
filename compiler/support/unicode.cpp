// unicode.cpp: decodes UTF-8 (RFC 3629), and lists the characters of Unicode 15 that are invisible or change others.
#include "compiler/support/unicode.h"

#include <fmt/format.h>

#include <algorithm>

namespace relaxc {
namespace {

struct CodeRange {
  char32_t first, last;
};

/// Code points that show nothing or control the display: categories Cc, Cf, Cs, Zl and Zp, and variation selectors.
constexpr CodeRange kInvisible[] = {
    {0x0000, 0x001F},   {0x007F, 0x009F},   {0x00AD, 0x00AD},   {0x034F, 0x034F},   {0x0600, 0x0605},
    {0x061C, 0x061C},   {0x06DD, 0x06DD},   {0x070F, 0x070F},   {0x0890, 0x0891},   {0x08E2, 0x08E2},
    {0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},
    {0x2060, 0x206F},   {0x3164, 0x3164},   {0xD800, 0xDFFF},   {0xFDD0, 0xFDEF},   {0xFE00, 0xFE0F},
    {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFC},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD},
    {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};

}  // namespace

Character character_at(std::string_view text, size_t at) {
  constexpr Character kInvalid{0xFFFD, 1, false};
  auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return {lead, 1, true};
  size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() - at < length) return kInvalid;
  char32_t code = lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    auto byte = static_cast<unsigned char>(text[at + i]);
    if ((byte & 0xC0) != 0x80) return kInvalid;
    code = code << 6 | (byte & 0x3Fu);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return kInvalid;
  return {code, length, true};
}

bool is_visible(const Character& character) {
  if (!character.valid || (character.code & 0xFFFE) == 0xFFFE) return false;
  return std::none_of(std::begin(kInvisible), std::end(kInvisible), [&](const CodeRange& range) {
    return range.first <= character.code && character.code <= range.last;
  });
}

std::string with_visible(std::string_view text, const std::function<std::string(std::string_view bytes)>& shown) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    Character character = character_at(text, at);
    std::string_view bytes = text.substr(at, character.length);
    out += is_visible(character) ? std::string(bytes) : shown(bytes);
    at += character.length;
  }
  return out;
}

std::string visible_json(std::string_view json) {
  return with_visible(json, [](std::string_view bytes) -> std::string {
    char32_t code = character_at(bytes, 0).code;
    if (code == '\n') return "\n";
    if (code < 0x10000) return fmt::format("\\u{:04x}", static_cast<uint32_t>(code));
    uint32_t rest = static_cast<uint32_t>(code) - 0x10000;
    return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
  });
}

}  // namespace relaxc
